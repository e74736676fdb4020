"use strict";

/* Says in the page why a passkey or a security key could not be used, instead of in the console. */

const REASONS = {
  NotAllowedError: "It was cancelled, or took too long. Try again.",
  InvalidStateError: "This passkey or key is set up for your account already.",
  NotSupportedError: "This browser or key cannot do that.",
  SecurityError: "Passkeys work by https and on localhost only, at the address of the hub.",
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
  place.textContent = REASONS[error && error.name] || "The passkey or key could not be used.";
});
