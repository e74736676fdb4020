"use strict";

/* Says in a cookie which time zone the browser has, so that pages show their times in it. */

{
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  if (zone) document.cookie = `time_zone=${zone}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}
