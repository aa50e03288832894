import { serverTexts } from './server-texts.ts'

/**
 * Path prefix of a page on the node port that confirms to another device that the device reaches this machine. A token
 * of the controller follows the prefix.
 */
export const reachPath = '/reach/'
export const reachToken = /^[0-9a-f]{18}$/

const style =
  ':root{color-scheme:light dark}body{display:grid;place-content:center;min-height:90vh;margin:0;padding:0 24px;font:17px/1.5 system-ui,sans-serif;text-align:center}i{font:700 64px/1 system-ui;color:#1a9c5b}h1{margin:12px 0 4px;font-size:24px}'

/** Returns the page in the first preferred language that has texts. @param preferred language tags */
export function reachPage(preferred: readonly string[]): string {
  const { language, texts } = serverTexts(preferred)
  const { title, body } = texts.reached
  return `<!doctype html><html lang="${language}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Roomdesk</title><style>${style}</style><main><i aria-hidden="true">✓</i><h1>${title}</h1><p>${body}</p></main></html>\n`
}
