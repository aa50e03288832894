import { browserStorage, tabStorage } from '../../kit/storage.ts'

const key = 'roomdesk.browser'
const form = /^[0-9a-f]{32}$/
let secret: string | undefined

/**
 * Returns a random secret that identifies this browser to the node when it has no personal link: in one room the
 * browser is always the same user. The secret is sent only to nodes. Without storage it lasts as long as the page.
 */
export function browserSecret(): string {
  secret ??= stored() ?? made()
  return secret
}

/** Uses the secret of the same page at another origin, for this tab only. */
export function adoptBrowserSecret(text: string): void {
  if (!form.test(text)) return
  secret = text
  tabStorage.set(key, text)
}

function stored(): string | undefined {
  const text = tabStorage.get(key) ?? browserStorage.get(key)
  return text !== undefined && form.test(text) ? text : undefined
}

function made(): string {
  // Not randomUUID, which a page over plain HTTP does not have.
  const text = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
  // If storage is disabled, the browser is another user after a reload.
  browserStorage.set(key, text)
  return text
}
