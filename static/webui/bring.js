"use strict";

/* Says that a file is too large before it is sent, and that it is on its way. */

const bringing = document.querySelector("form[data-max-bytes]");
if (bringing) {
  const input = bringing.querySelector("input[type=file]");
  const tooLarge = document.getElementById("too-large");
  const isTooLarge = () => [...input.files].some((file) => file.size > Number(bringing.dataset.maxBytes));
  input.addEventListener("change", () => {
    tooLarge.hidden = !isTooLarge();
  });
  bringing.addEventListener("submit", (event) => {
    if (isTooLarge()) {
      event.preventDefault();
      tooLarge.hidden = false;
      input.focus();
      return;
    }
    bringing.querySelector("button").disabled = true;
    document.getElementById("sending").hidden = false;
  });
  // A page that comes back from the browser's memory can be sent again.
  window.addEventListener("pageshow", () => {
    bringing.querySelector("button").disabled = false;
    document.getElementById("sending").hidden = true;
  });
}
