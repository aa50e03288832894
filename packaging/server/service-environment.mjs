/**
 * Reads an environment file as systemd does (systemd.exec(5), EnvironmentFile=): an assignment a line, `#` and `;` begin comments, a backslash
 * at the end goes on with the next line; quotes as in a shell, nothing is expanded.
 * @param {string} text
 * @returns {Record<string, string>}
 */
export function serviceEnvironment(text) {
  /** @type {Record<string, string>} */
  const values = {}
  for (const line of text.replaceAll('\\\n', '').split('\n')) {
    const assignment = /^\s*([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line)
    if (assignment) values[assignment[1]] = unquote(assignment[2])
  }
  return values
}

/** @param {string} value */
function unquote(value) {
  return value.replaceAll(
    /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g,
    (_whole, single, double, escaped) => single ?? double?.replaceAll(/\\(["\\`$])/g, '$1') ?? escaped,
  )
}
