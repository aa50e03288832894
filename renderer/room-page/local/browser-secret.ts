const key = 'roomdesk.browser'
let secret: string | undefined

/**
 * Identifies this browser to the node without a personal link: in one room it is always the same user. Random, and sent to nobody else. Without
 * storage it lasts as long as the page.
 */
export function browserSecret(): string {
  secret ??= stored() ?? made()
  return secret
}

function stored(): string | undefined {
  try {
    const text = localStorage.getItem(key)
    return text !== null && /^[0-9a-f]{32}$/.test(text) ? text : undefined
  } catch {
    return undefined
  }
}

function made(): string {
  // Not randomUUID, which a page over plain HTTP does not have.
  const text = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
  try {
    localStorage.setItem(key, text)
  } catch {
    // Storage may be disabled.
  }
  return text
}
