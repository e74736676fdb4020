"use strict";

/* Proposes the time zone of the browser to who has chosen none. */

for (const select of document.querySelectorAll("select[data-propose-zone]")) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const option = [...select.querySelectorAll("option")].find((one) => one.value && one.value === zone);
  if (option) {
    select.value = zone;
    document.getElementById(select.dataset.proposeZone).hidden = false;
  }
}
