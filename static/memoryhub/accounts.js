"use strict";

/* Says in the page why a passkey or a security key could not be used, instead of in the console. */

/* Names of words of the page, in the language of its reader: allauth/words.html. */
const REASONS = {
  NotAllowedError: "cancelled",
  InvalidStateError: "known",
  NotSupportedError: "unsupported",
  SecurityError: "insecure",
};

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const error = event.detail.exception;
  let place = document.getElementById("mh-passkey-problem");
  if (!place) {
    place = document.createElement("p");
    place.id = "mh-passkey-problem";
    place.className = "mh-account-alert";
    place.setAttribute("role", "alert");
    const title = document.querySelector(".mh-account-title");
    title.after(place);
  }
  place.textContent = document.getElementById("account-words").dataset[REASONS[error && error.name] || "unused"];
});
