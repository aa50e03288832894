import type { TextKey, Translate } from '../../i18n/text.ts'

/** A sentence of the controller: its pattern, key, and the names of quoted parts. */
type Known = readonly [pattern: RegExp, key: TextKey, quoted?: string]

const known: readonly Known[] = [
  [/ is empty: it must be rtsp/, 'devices.sentences.empty'],
  [/ is longer than (\d+) bytes/, 'devices.sentences.long', 'limit'],
  [/ must be \d+ to (\d+) bytes/, 'problems.bytes', 'limit'],
  [/ must be at most (\d+) bytes/, 'problems.bytes', 'limit'],
  [/ holds a character that cannot be in an address/, 'devices.sentences.character'],
  [/ must begin with rtsp/, 'devices.sentences.scheme'],
  [/ holds a space in its path/, 'devices.sentences.space'],
  [/ has no host/, 'devices.sentences.noHost'],
  [/ has a malformed IPv6 address/, 'devices.sentences.ipv6'],
  [/ has an IPv6 address without brackets/, 'devices.sentences.brackets'],
  [/ has a malformed IPv4 address/, 'devices.sentences.ipv4'],
  [/ has a malformed port/, 'devices.sentences.port'],
  [/ has a malformed host name/, 'devices.sentences.host'],
  [/ holds a control character/, 'devices.sentences.control'],
  [/ is not sent to another host/, 'devices.sentences.passwordElsewhere'],
  [/^There is no such room/, 'devices.sentences.noRoom'],
  [/^The room is closed/, 'devices.sentences.roomClosed'],
  [/^A user with this userId exists/, 'devices.sentences.userExists'],
  [/^There is no such outgoing user/, 'devices.sentences.noDevice'],
  [/^The device is paused/, 'devices.sentences.paused'],
  [/^The licence of this site has expired/, 'devices.sentences.licenceExpired'],
  [/^The licence or the MCU nodes/, 'devices.sentences.licenceFull'],
  [/^The MCU did not answer/, 'devices.sentences.nodeTimeout'],
  [/^The change could not be stored/, 'devices.sentences.storage'],
  [/^Line \d+: (\w+) is empty/, 'devices.sentences.emptyCell', 'column'],
  [/^It has too many cells/, 'devices.sentences.cells'],
  [/^An earlier line has the same/, 'devices.sentences.twice'],
  [/^The table is empty/, 'devices.sentences.tableEmpty'],
  [/^The table has more than (\d+) lines/, 'devices.sentences.tableLong', 'limit'],
  [/^There is no column (.*)\.$/, 'devices.sentences.noColumn', 'name'],
  [/^The column (\w+) is missing/, 'devices.sentences.columnMissing', 'name'],
  [/^A column is there twice/, 'devices.sentences.columnTwice'],
  [/^Line (\d+): a quoted cell is not closed/, 'devices.sentences.quoteOpen', 'line'],
  [/^Line (\d+): after a quoted cell/, 'devices.sentences.quoteAfter', 'line'],
  [/^Line (\d+): a cell with a quote/, 'devices.sentences.quoteInside', 'line'],
]

/** Field names as in a table. */
const fieldNames = /^(userAddress|assist_address|userName|userId|userData|roomId|login_name|login_password) /

/**
 * Translates a sentence of the controller about a device; returns an unknown one unchanged.
 * @param field includes the name of the field, for a place that does not show it
 */
export function deviceSentence(message: string, t: Translate, field = false): string {
  for (const [pattern, key, quoted] of known) {
    const found = pattern.exec(message)
    if (found === null) continue
    const text = t(key, quoted === undefined ? undefined : { [quoted]: found[1] ?? '' })
    const name = field ? fieldNames.exec(message)?.[1] : undefined
    return name === undefined ? text : `${name}: ${text}`
  }
  return message
}
