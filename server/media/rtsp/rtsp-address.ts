/** Where a camera's stream is, without any login. */
export interface RtspAddress {
  /** The request URL: never holds a login. */
  url: string
  /** Name, IPv4 or IPv6 without brackets. */
  host: string
  port: number
  /** RTSP over TLS. */
  secure: boolean
}

/** The registered ports (RFC 7826, section 22.15). */
const defaultPorts = { 'rtsp:': 554, 'rtsps:': 322 }

/**
 * Takes an address apart. A login in it is left out: it is the caller's to take it out before.
 * @throws TypeError when it is no rtsp:// or rtsps:// address
 */
export function parseRtspAddress(address: string): RtspAddress {
  const url = URL.parse(address)
  if (url === null || (url.protocol !== 'rtsp:' && url.protocol !== 'rtsps:') || url.hostname === '') {
    throw new TypeError('not an rtsp:// or rtsps:// address')
  }
  return {
    url: withoutLogin(url),
    host: decodeURIComponent(url.hostname.replace(/^\[|\]$/g, '')),
    port: url.port === '' ? defaultPorts[url.protocol] : Number(url.port),
    secure: url.protocol === 'rtsps:',
  }
}

/**
 * The URL that a camera names in Content-Base, Content-Location or a control attribute. Cameras append to the base with a slash rather than as RFC 3986
 * says, so this does too. A login in it is taken out; what is no URL is ignored.
 */
export function controlUrl(base: string, control: string): string {
  if (control === '' || control === '*') return base
  if (/^rtsps?:\/\//i.test(control)) {
    const url = URL.parse(control)
    return url === null ? base : withoutLogin(url)
  }
  const path = hasControlCharacter(control) ? encodeURI(control) : control
  return base.endsWith('/') ? base + path : `${base}/${path}`
}

function withoutLogin(url: URL): string {
  const copy = new URL(url.href)
  copy.username = ''
  copy.password = ''
  return copy.href
}

function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code <= 0x20 || code > 0x7e) return true
  }
  return false
}
