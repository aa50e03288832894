/**
 * Words that are harmless in any text: common words for rooms, cameras and their streams. Any other text may be a
 * password, even if it does not look like one.
 */
const words = new Set(
  (
    'room meeting hall lobby office class conference user member owner host device lab test demo front back left right door gate entrance yard garage north south east west ' +
    'cam camera ch channel channels stream streams streaming live av video audio media main sub mainstream substream primary secondary first second low high hd sd ' +
    'h c s v mp mpeg mjpeg jpeg avc hevc sdp amp axis rtsp rtp onvif profile unicast multicast track trackid preview realmonitor subtype proto'
  ).split(' '),
)

const shortNumber = /^\d{1,9}$/
const separators = /[-_.]/
const wordAndNumber = /^([A-Za-z]*)(\d*)$/

/** Whether a text is a whole number of at most nine digits, like room numbers. */
export function isShortNumber(text: string): boolean {
  return shortNumber.test(text)
}

/**
 * Whether a text consists of known words, each with at most three digits, joined by `-`, `_` or `.`: `room-1`,
 * `av_stream`, `ch01`, `live.sdp`.
 */
export function isPlainText(text: string): boolean {
  if (text === '' || text.length > 64) return false
  return text.split(separators).every((part) => {
    const [, letters = '', digits = ''] = wordAndNumber.exec(part) ?? []
    return part !== '' && digits.length <= 3 && (letters === '' ? digits !== '' : words.has(letters.toLowerCase()))
  })
}

/** Placeholder of a secret, which hides its length too. */
export const redacted = '[redacted]'

/** Returns the placeholder of a hidden text, with its length. */
export function textLength(text: string): string {
  return `[${text.length} ${text.length === 1 ? 'character' : 'characters'}]`
}
