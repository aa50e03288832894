import { fill, type Values, type ValuesOf } from './template.ts'

/**
 * Problems of a field. Each text continues a sentence that starts with the name of the field. `{…}` stands for a value.
 */
export const complaints = {
  missing: 'is missing',
  type: 'has the wrong type',
  malformed: 'is malformed',
  unknownField: 'is not a field of this input',
  notOffered: 'is none of the offered values',
  atLeast: 'must be {min} or more',
  atMost: 'must be {max} or less',
  shorter: 'must have {max} characters at most',
  longer: 'must have {min} characters or more',
  fewer: 'must have {max} entries at most',
  more: 'must have {min} entries or more',
  date: 'must be a date such as 2027-12-31',
  wallTime: 'must be a date and time such as 2026-11-25T09:00',
  timeZone: 'must be a time zone such as Europe/Berlin',
  repetition: 'must be a repetition such as FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20270331',
  repetitionPart:
    'has an unsupported {part}: FREQ is DAILY, WEEKLY, MONTHLY or YEARLY, with INTERVAL, BYDAY, BYMONTHDAY, and UNTIL or COUNT',
  characters: 'must be {min} to {max} characters',
  bytes: 'must be {min} to {max} bytes of UTF-8',
  maxBytes: 'must be at most {max} bytes of UTF-8',
  wholeNumber: 'must be a whole number from {min} to {max}',
  unsafe: 'must hold visible characters only: no control characters or direction marks, and not spaces alone',
  comma: 'must not hold a comma',
  controls: 'must not hold control characters',
  ascii: 'must hold printable ASCII without spaces',
  empty: 'must not be empty',
  webAddress: 'must be an http or https URL without a slash at its end',
  hostPort: 'must be host:port, without a scheme',
  serverUrl: 'must be a {first} or {second} URL without login and fragment',
  nodeName: 'must start with a letter or digit and hold letters, digits, spaces, . _ - only',
  janusOnly: 'belongs to a node of kind janus',
  janusUrlMissing: 'is needed: people and cameras come to a Janus node through it',
  network: 'must be an IP address, or a network as 10.0.0.0/8',
  iceServer: 'must be an address with stun:, stuns:, turn: or turns:',

  addressEmpty: 'is empty: it must be rtsp://host:port/path.',
  addressLong: 'is longer than {max} bytes.',
  addressCharacter: 'holds a character that cannot be in an address.',
  addressScheme: 'must begin with rtsp:// or rtsps://.',
  addressSpace: 'holds a space in its path: write %20.',
  addressNoHost: 'has no host: it must be rtsp://host:port/path.',
  addressIpv6: 'has a malformed IPv6 address: it must be like rtsp://[2001:db8::1]:554/path.',
  addressBrackets: 'has an IPv6 address without brackets: write rtsp://[2001:db8::1]:554/path.',
  addressIpv4: 'has a malformed IPv4 address: it must be like 192.168.1.64.',
  addressPort: 'has a malformed port: it must be a number from 1 to 65535.',
  addressHost: 'has a malformed host name.',
  optionsDeep: 'is nested deeper than {max} levels.',
  optionsLarge: 'is larger than {max} bytes.',
  optionsText: 'is not well-formed JSON.',
  optionsObject: 'must be a JSON object.',
  notText: 'must be a text.',
  long: 'is longer than {max} bytes.',
  control: 'holds a control character.',
  recordFilter: 'must be a JSON object with fromTime, endTime, roomId and userId, dates like 2026-11-25',
} as const

export type ComplaintName = keyof typeof complaints
type ComplaintValues<N extends ComplaintName> = ValuesOf<(typeof complaints)[N]>
/** Arguments for the values of a complaint; empty: it has no values. */
export type ComplaintArguments<N extends ComplaintName> = keyof ComplaintValues<N> extends never
  ? []
  : [values: ComplaintValues<N>]

/** Complaint about a field: English text, and name and values for pages that translate it. */
export interface Complaint {
  readonly name: ComplaintName
  readonly values: Values
  /** Continuation of an English sentence that starts with the name of the field. */
  readonly message: string
}

export function complaint<N extends ComplaintName>(name: N, ...given: ComplaintArguments<N>): Complaint {
  const values: Values = given[0] ?? {}
  return { name, values, message: fill(complaints[name], values) }
}

/**
 * Complaints by message, because zod keeps only the message of a rule. The map contains one entry for each rule of the
 * schemas in `shared/`.
 */
const ofSchemas = new Map<string, Complaint>()

/**
 * Returns the message for a rule of a schema. `complaintOfRule` finds the complaint by this message. Only for constant
 * values, because each message is stored permanently.
 */
export function rule<N extends ComplaintName>(name: N, ...values: ComplaintArguments<N>): string {
  const made = complaint(name, ...values)
  ofSchemas.set(made.message, made)
  return made.message
}

/** Returns the complaint of a schema's rule by its message; undefined: the message is from zod itself. */
export function complaintOfRule(message: string): Complaint | undefined {
  return ofSchemas.get(message)
}
