import { ApiError } from '../../shared/result-codes.ts'
import { complaint } from '../../shared/refusals/complaints.ts'
import { readObjectText } from '../http/parameters.ts'
import type { OrderFilter } from '../recordings/client-recordings/stored-orders.ts'
import type { StoredRecording } from '../store/recording-records.ts'

const dayMs = 24 * 60 * 60 * 1_000
const sounds = ['none', 'own', 'room'] as const
const pictures = ['none', 'main', 'screen', 'screen'] as const

/** Returns the streams for the numbers that clients of the original platform send; by default, picture and sound. */
export function streamsOf({
  audioType = 1,
  videoType = 1,
}: {
  audioType?: number | undefined
  videoType?: number | undefined
}): Pick<StoredRecording, 'sound' | 'picture'> {
  return { sound: sounds[audioType] ?? 'own', picture: pictures[videoType] ?? 'main' }
}

/** Returns the numbers that clients of the original platform use for streams. */
export function typesOf({ sound, picture }: Pick<StoredRecording, 'sound' | 'picture'>): {
  audioType: number
  videoType: number
} {
  return { audioType: sounds.indexOf(sound), videoType: pictures.indexOf(picture) }
}

/**
 * Parses a filter of clients of the original platform: an object or its JSON text, often escaped twice, with empty
 * values for absent fields. Dates are days in the controller's time zone.
 * @throws ApiError parameter
 */
export function filterOf(given: string | Record<string, unknown> | undefined): OrderFilter {
  if (given === undefined || given === '' || given === 'undefined') return {}
  const filter = typeof given === 'string' ? readObjectText(unescaped(given)) : given
  if (filter === undefined) throw malformed()
  const from = dayOf(filter.fromTime)
  const to = dayOf(filter.endTime)
  return {
    roomId: textOf(filter.roomId),
    userId: textOf(filter.userId),
    from,
    // A day is included up to its end; a time is an exact limit.
    to: to === undefined ? undefined : isDay(filter.endTime) ? startOfNextDay(to) - 1 : to,
  }
}

/** Formats a time as `yyyy-mm-dd hh:mm:ss` in the controller's time zone. */
export function timeText(at: number): string {
  const date = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

function unescaped(text: string): string {
  if (!/^%7b/i.test(text)) return text
  try {
    return decodeURIComponent(text)
  } catch {
    // A text with a broken escape is not a filter.
    return text
  }
}

function isDay(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d{1,2}-\d{1,2}$/.test(value.trim())
}

/** Parses a day, as its beginning, or a time, to milliseconds since the epoch. */
function dayOf(value: unknown): number | undefined {
  const text = textOf(value)?.trim()
  if (text === undefined || text === '') return undefined
  const [, year, month, day, hour = '0', minute = '0', second = '0'] =
    /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T+](\d{1,2}):(\d{1,2})(?::(\d{1,2}))?)?$/.exec(text) ?? []
  const at = new Date(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
  if (year === undefined || Number.isNaN(at.getTime()) || at.getDate() !== Number(day)) throw malformed()
  return at.getTime()
}

/** Returns the start of the next day. A day has 23 or 25 hours when daylight saving time begins or ends. */
function startOfNextDay(day: number): number {
  const next = new Date(day + 1.5 * dayMs)
  return new Date(next.getFullYear(), next.getMonth(), next.getDate()).getTime()
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function malformed(): ApiError {
  return new ApiError('parameter', { field: 'filter', complaint: complaint('recordFilter') })
}
