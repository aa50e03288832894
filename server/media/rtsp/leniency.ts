import { asciiOnly, requestUrlOf } from '../../../shared/device-address.ts'

/**
 * Known deviations of cameras and encoders from RFC 2326 and RFC 8866, and how each is interpreted. Every rule is one
 * entry with its deviation. A new deviation needs one entry here and one case in `test/field/`.
 */

/** A form in which cameras write URLs. */
interface UrlForm {
  deviation: string
  /** Returns the URL in this form; undefined if the form does not apply. */
  url(base: string, text: string): string | undefined
}

const absolute = /^rtsps?:\/\//i
const endpoint = /^rtsps?:\/\/[^/?#]*/i
/** An address without its scheme: an IPv4 address, or a host with a port, followed by a path. */
const withoutScheme = /^(?:\/\/)?(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\]|[\w.-]+(?=:\d))(?::\d{1,5})?\//i
const withoutSlash = (base: string): string => base.replace(/\/$/, '')
const originOf = (base: string): string => endpoint.exec(base)?.[0] ?? base
/** Returns `url` with its origin replaced by that of `base`. */
const movedTo = (base: string, url: string): string => `${originOf(base)}${url.replace(endpoint, '')}`
/** Returns an absolute URL for a text that lacks the scheme of `url`. */
const withScheme = (url: string, text: string): string | undefined =>
  withoutScheme.test(text)
    ? requestUrlOf(`${/^rtsps?:/i.exec(url)?.[0] ?? 'rtsp:'}//${text.replace(/^\/\//, '')}`)
    : undefined

/**
 * Removes decorations from an address in a field or attribute: quotes, angle brackets, and a second scheme. Also
 * completes a single slash after the scheme, and replaces schemes by which players select a transport (`rtspt`,
 * `rtspu`).
 */
export function lenientAddress(text: string): string {
  return text
    .trim()
    .replace(/^["'<]{1,4}|[>"']{1,4}$/g, '')
    .replace(/^rtsps?:\/{1,2}(?=rtsp[stu]?:\/)/i, '')
    .replace(
      /^(rtsps?|rtsp[tu]):\/(?:\/|(?!\/))/i,
      (_, scheme: string) => `${/s$/i.test(scheme) ? 'rtsps' : 'rtsp'}://`,
    )
}

/**
 * Forms of a control attribute (RFC 2326, section C.1.1), most common first. A SETUP that is rejected for its URL is
 * repeated with the next form.
 */
const controlForms: readonly UrlForm[] = [
  {
    deviation: 'An absolute URL, as the RFC has it; a login in it is removed.',
    url: (_base, control) => (absolute.test(control) ? requestUrlOf(control) : undefined),
  },
  {
    deviation:
      'Text to append to the base with one slash: cameras do not resolve it as RFC 3986 does, and some begin it with a slash.',
    url: (base, control) =>
      absolute.test(control) ? undefined : `${withoutSlash(base)}/${control.replace(/^\/+/, '')}`,
  },
  {
    deviation: 'A path of the host (RFC 3986, section 5.2.2).',
    url: (base, control) => (control.startsWith('/') ? `${originOf(base)}/${control.replace(/^\/+/, '')}` : undefined),
  },
  {
    deviation: 'More of a query, to append to the base as it is.',
    url: (base, control) => (/^[?&]/.test(control) ? `${withoutSlash(base)}${control}` : undefined),
  },
  { deviation: 'An absolute URL without its scheme.', url: withScheme },
  {
    deviation: 'A path before the query of the base.',
    url: (base, control) => {
      const query = base.indexOf('?')
      if (query < 0 || absolute.test(control)) return undefined
      return `${withoutSlash(base.slice(0, query))}/${control.replace(/^\/+/, '')}${base.slice(query)}`
    },
  },
  {
    deviation: 'An absolute URL with the inner address of a camera behind NAT, or without its port.',
    url: (base, control) => (absolute.test(control) ? movedTo(base, control) : undefined),
  },
  {
    deviation: 'Text in the place of the last segment of the base (RFC 3986, section 5.2.3).',
    url: (base, control) =>
      absolute.test(control) || control.startsWith('/')
        ? undefined
        : `${originOf(base)}${(/^[^?#]*\//.exec(base.replace(endpoint, '')) ?? ['/'])[0]}${control}`,
  },
]

/**
 * Forms of Content-Base, Content-Location and the session's control attribute, as a base for the controls of tracks.
 */
const baseForms: readonly UrlForm[] = [
  {
    deviation: 'An absolute URL, as the RFC has it.',
    url: (_url, base) => (absolute.test(base) ? requestUrlOf(base) : undefined),
  },
  {
    deviation: 'A path of the host.',
    url: (url, base) => (/^\/(?!\/)/.test(base) ? `${originOf(url)}${base}` : undefined),
  },
  { deviation: 'No scheme: `10.0.0.9:554/stream/`, or `//10.0.0.9/stream/`.', url: withScheme },
  {
    deviation:
      'An absolute URL with the inner address of a camera behind NAT, without its port, or with a port that does not exist.',
    url: (url, base) => (absolute.test(base) ? movedTo(url, base) : undefined),
  },
]

/** Maximum number of URLs tried by one SETUP. */
const maxUrls = 8

/**
 * Returns the possible URLs of a track, most likely first.
 * @param bases base URLs of the stream, most likely first; without login
 * @param control attribute of the track as written by the camera; empty or `*`: the base itself
 */
export function controlUrls(bases: readonly string[], control: string): string[] {
  const text = asciiOnly(lenientAddress(control))
  if (text === '' || text === '*') return bases.slice(0, maxUrls)
  const urls = controlForms.flatMap((form) => bases.map((base) => form.url(base, text)))
  const found = [...new Set(urls.filter((url) => url !== undefined))]
  return found.length === 0 ? bases.slice(0, maxUrls) : found.slice(0, maxUrls)
}

/**
 * Returns the possible URLs of a base from the response to a request for `url`, most likely first; empty if the
 * response has no base.
 */
export function baseUrls(url: string, text: string): string[] {
  // Some cameras repeat the URL within one field.
  const [first = ''] = text.trim().split(/[,\s]/, 1)
  const plain = asciiOnly(lenientAddress(first))
  return [...new Set(baseForms.map((form) => form.url(url, plain)).filter((base) => base !== undefined))]
}

/** A form of description lines, and its replacement. */
interface LineForm {
  deviation: string
  from: RegExp
  to: string | ((...matched: string[]) => string)
}

/** Format parameters that some cameras separate by commas. */
const parameterNames =
  'packetization-mode|profile-level-id|sprop-[a-z-]+|config|mode|streamtype|sizelength|index(?:delta)?length'

/** Forms of description lines (RFC 8866), in order of replacement. */
const lineForms: readonly LineForm[] = [
  { deviation: 'Lines end with CR alone, or with CR CR LF.', from: /\r+\n?/g, to: '\n' },
  { deviation: 'Tabs stand for spaces.', from: /\t/g, to: ' ' },
  {
    deviation: 'Lines begin with spaces, or the text with a byte order mark.',
    from: /^[ \uFEFF]{1,64}(?=[a-z]=)/gm,
    to: '',
  },
  {
    deviation:
      'A media line has several spaces between its fields, its type in upper case, or a port that is none: SETUP names the ports.',
    from: /^m=(\w{1,32}) +\S{1,32} +(\S{1,64}) +/gm,
    to: (_, type = '', protocol = '') => `m=${type.toLowerCase()} 0 ${protocol} `,
  },
  {
    deviation: 'The name of an attribute is in upper case, or has spaces around its colon.',
    from: /^a= {0,8}([a-z][\w-]{0,31}) {0,8}(:?) {0,8}/gim,
    to: (_, name = '', colon = '') => `a=${name.toLowerCase()}${colon}`,
  },
  {
    deviation: 'Format parameters are separated by commas.',
    from: new RegExp(`, {0,8}(?=(?:${parameterNames}) {0,8}=)`, 'gi'),
    to: ';',
  },
]

/** Returns the description with its lines in the form of RFC 8866. */
export function plainDescription(text: string): string {
  return lineForms.reduce(
    (lines, { from, to }) => (typeof to === 'string' ? lines.replace(from, to) : lines.replace(from, to)),
    text,
  )
}

/**
 * Assumed clock rates of formats whose `a=rtpmap` has no rate, in Hz: the rate of all pictures (RFC 3551, section 5)
 * and of telephone sound.
 */
export const assumedClock = { video: 90_000, audio: 8_000 } as const

/** Registered codec names, by the names that some cameras use instead. */
const codecNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    H264: ['H.264', 'X-H264', 'AVC', 'AVC1', 'MPEG4-AVC'],
    H265: ['H.265', 'X-H265', 'HEVC', 'HVC1', 'HEV1'],
    JPEG: ['MJPEG', 'MJPG', 'JPG'],
    'MP4V-ES': ['MP4V', 'MPEG4-VIDEO', 'MPEG4'],
    PCMU: ['G711U', 'G.711U', 'G711-ULAW', 'G711MU', 'ULAW', 'PCM_MULAW'],
    PCMA: ['G711A', 'G.711A', 'G711-ALAW', 'ALAW', 'PCM_ALAW'],
    G722: ['G.722'],
    'G726-32': ['G726', 'G.726', 'G.726-32'],
    'MPEG4-GENERIC': ['AAC', 'MPEG4-AAC', 'AAC-HBR', 'MPEG-4-GENERIC'],
    MPA: ['MP3', 'MP2', 'MPEG-AUDIO'],
    L16: ['PCM', 'PCM_S16BE', 'LPCM'],
    OPUS: ['X-OPUS'],
  }).flatMap(([codec, others]) => others.map((other) => [other, codec] as const)),
)

/** Returns the registered name of a codec, in upper case, for the name written by a camera. */
export function registeredCodec(name: string): string {
  const upper = name.trim().toUpperCase()
  return codecNames.get(upper) ?? upper
}

/** Reaction to a request without a successful response. */
export type AnswerRemedy =
  /** Continues as if the request had succeeded. */
  | 'ignore'
  /** Repeats the request with the next URL of the track or session. */
  | 'otherUrl'
  /** Sets the track up over UDP instead of TCP, or vice versa. */
  | 'otherTransport'
  /** Repeats the request without a Range. */
  | 'withoutRange'
  /** Repeats the request with an earlier session id. */
  | 'otherSession'
  /** Repeats the request a moment later. */
  | 'later'

interface AnswerRule {
  method: string
  /** First and last status; 0: timeout. */
  status: readonly [number, number]
  remedy: AnswerRemedy
  deviation: string
}

const answerRules: readonly AnswerRule[] = [
  {
    method: 'OPTIONS',
    status: [400, 599],
    remedy: 'ignore',
    deviation: 'OPTIONS is not known, or refused for this path: DESCRIBE tells what is wrong with the address.',
  },
  { method: 'OPTIONS', status: [0, 0], remedy: 'ignore', deviation: 'OPTIONS is not answered at all.' },
  {
    method: 'DESCRIBE',
    status: [503, 503],
    remedy: 'later',
    deviation: 'The camera still ends an earlier session of the stream (GStreamer).',
  },
  { method: 'SETUP', status: [400, 400], remedy: 'otherUrl', deviation: 'The URL of a track is not understood.' },
  { method: 'SETUP', status: [403, 405], remedy: 'otherUrl', deviation: 'There is no track at this URL.' },
  { method: 'SETUP', status: [451, 460], remedy: 'otherUrl', deviation: 'The URL names the session, or no track.' },
  { method: 'SETUP', status: [500, 503], remedy: 'otherUrl', deviation: 'The URL of a track confuses the camera.' },
  ...(
    [
      [400, 400],
      [406, 406],
      [415, 415],
      [451, 451],
      [461, 462],
      [500, 503],
      [551, 551],
    ] as const
  ).map(
    (status): AnswerRule => ({
      ...{ method: 'SETUP', status, remedy: 'otherTransport' },
      deviation: 'One of TCP and UDP is not supported; 461 is the status for it.',
    }),
  ),
  {
    method: 'PLAY',
    status: [454, 454],
    remedy: 'otherSession',
    deviation: 'Another id than the last one names the session.',
  },
  {
    method: 'PLAY',
    status: [400, 400],
    remedy: 'withoutRange',
    deviation: 'A live stream refuses any Range, with one status or another.',
  },
  { method: 'PLAY', status: [404, 599], remedy: 'withoutRange', deviation: 'As above.' },
  {
    method: 'PLAY',
    status: [404, 599],
    remedy: 'otherUrl',
    deviation:
      'Only the URL of the stream, or of its track, can be played; or the session has another URL than its description says.',
  },
]

/** Returns the reactions to a failed request, in order. @param status status code of the response; 0: timeout */
export function remediesFor(method: string, status: number): AnswerRemedy[] {
  return answerRules
    .filter((rule) => rule.method === method && status >= rule.status[0] && status <= rule.status[1])
    .map(({ remedy }) => remedy)
}

/** Whether a status is a redirection (RFC 2326, section 11.3; 307 and 308 as in HTTP). */
export function isRedirection(status: number): boolean {
  return [301, 302, 303, 305, 307, 308].includes(status)
}
