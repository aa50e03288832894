/**
 * Display format of an event's value. `hidden`: not displayed, because it is a code or only part of the sentence;
 * exports contain it.
 */
type ShownAs = 'text' | 'number' | 'span' | 'time' | 'size' | 'yesNo' | 'role' | 'hidden'

/** Values of events, by name. The console has a label in every language for each value that is not hidden. */
export const eventValues = {
  account: 'text',
  address: 'text',
  all: 'yesNo',
  at: 'time',
  away_ms: 'span',
  backup: 'text',
  blocked: 'hidden',
  bucket: 'text',
  by: 'text',
  bytes: 'size',
  capability: 'hidden',
  client: 'text',
  code: 'hidden',
  controller: 'text',
  count: 'number',
  crash_reports: 'hidden',
  delay_ms: 'span',
  detail: 'text',
  dropped: 'number',
  end_links: 'yesNo',
  ended: 'number',
  endpoint: 'text',
  error: 'hidden',
  example: 'text',
  expires_at: 'time',
  fault: 'hidden',
  file: 'text',
  folder: 'text',
  format: 'text',
  found: 'hidden',
  free: 'size',
  from: 'time',
  guess: 'hidden',
  host: 'text',
  id: 'text',
  kept: 'hidden',
  kind: 'hidden',
  label: 'text',
  last_seen: 'time',
  link: 'hidden',
  lost: 'hidden',
  made_by: 'text',
  maker: 'hidden',
  maker_id: 'hidden',
  message: 'hidden',
  minutes: 'number',
  mode: 'hidden',
  name: 'text',
  names: 'hidden',
  node: 'text',
  note: 'text',
  operation: 'text',
  operations: 'text',
  procedure: 'hidden',
  reached: 'number',
  reason: 'hidden',
  recorded: 'hidden',
  reserve: 'size',
  revoked: 'number',
  role: 'role',
  room: 'text',
  rules: 'number',
  scopes: 'text',
  seconds: 'number',
  segments: 'number',
  since: 'time',
  stalled: 'hidden',
  stayed_ms: 'span',
  stream: 'text',
  things: 'number',
  to: 'time',
  token_id: 'hidden',
  token_label: 'text',
  ttl: 'number',
  url: 'text',
  user: 'text',
  version: 'text',
  way: 'hidden',
  why: 'hidden',
} as const satisfies Readonly<Record<string, ShownAs>>
type EventValue = keyof typeof eventValues

/** Values of a new event. A name without an entry in `eventValues` does not compile. */
export type EventParams = Partial<Readonly<Record<EventValue, string | number | boolean | null>>>
type LabelledValue = {
  [N in EventValue]: (typeof eventValues)[N] extends 'hidden' ? never : N
}[EventValue]

/** Whether a page shows a value of this name. Names of another version of the controller are hidden. */
export function isLabelled(name: string): name is LabelledValue {
  return Object.hasOwn(eventValues, name) && eventValues[name as EventValue] !== 'hidden'
}

/**
 * Fields of records, as in events with values before and after a change. Settings are excluded: they use the labels of
 * the settings page.
 */
const recordFields = [
  'addresses',
  'admin_url',
  'attendee_max',
  'branches',
  'closed',
  'draining',
  'enabled',
  'entry_by_number',
  'expires_at',
  'host_password',
  'idc_code',
  'items',
  'kind',
  'label',
  'layout',
  'locked',
  'login_password',
  'max_audio',
  'max_rooms',
  'max_users',
  'max_video',
  'name',
  'node',
  'options',
  'owner_id',
  'p2p',
  'password',
  'paused',
  'recording',
  'role',
  'room_extend_id',
  'room_mode',
  'roomId',
  'rotate_s',
  'schedule',
  'secret_key',
  'secrets',
  'tags',
  'topic',
  'userAddress',
  'userData',
  'userName',
  'waiting_room',
  'weight',
  'ws_url',
] as const
type RecordField = (typeof recordFields)[number]

/** Returns the field of a record that contains the path of a change; undefined: the path is internal. */
export function recordField(path: string): RecordField | undefined {
  const [first] = path.split('.')
  return recordFields.find((one) => one === first)
}
