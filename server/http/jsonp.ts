import { limits } from '../../shared/limits.ts'

/** JSONP (contract, section 1; field: browser clients call with `callback=test` or jQuery's `callback=?`). */

// eslint-disable-next-line roomdesk/linear-patterns -- each part begins with a dot, which no part contains
const identifierPath = /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$/

/** A plain identifier path: the only thing that may be put in front of the answer. */
export function isCallback(name: string): boolean {
  return name.length <= limits.callback && identifierPath.test(name)
}

/** An answer as a script. The comment in front keeps the answer's first bytes out of the caller's hands (CVE-2014-4671). */
export function wrapInCallback(callback: string, json: string): string {
  // U+2028 and U+2029 end a line in scripts before ES2019, in JSON they do not.
  return `/**/${callback}(${json.replace(/[\u2028\u2029]/g, (end) => (end === '\u2028' ? '\\u2028' : '\\u2029'))});`
}
