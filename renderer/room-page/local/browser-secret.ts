const key = 'roomdesk.browser'
let secret: string | undefined

/**
 * Names this browser to the node where no link names its user: in one room it is the same person each time. Random, and told to nobody else. Where storage is
 * switched off it lasts as long as the page.
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
  // Not randomUUID: a page that came over plain HTTP does not have it.
  const text = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
  try {
    localStorage.setItem(key, text)
  } catch {
    // Storage may be switched off.
  }
  return text
}
