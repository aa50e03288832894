import type { RecordingHours } from '../../shared/recordings/recording-rule.ts'
import { wallOf } from '../../shared/schedule/wall-clock.ts'

const minuteMs = 60_000
const dayMinutes = 24 * 60

/** Tells whether an instant lies in weekly hours, by the clocks of their zone. @param now milliseconds since the epoch */
export function isWithinHours(hours: readonly RecordingHours[], now: number): boolean {
  return hours.some((each) => isWithin(each, now))
}

function isWithin({ days, from, to, zone }: RecordingHours, now: number): boolean {
  const wall = wallOf(zone, now)
  const minute = Math.floor(wall / minuteMs) % dayMinutes
  const [start, end] = [minuteOf(from), minuteOf(to)]
  if (start < end) return days.includes(weekday(wall)) && minute >= start && minute < end
  // Over midnight: the evening of a day in the list, or the morning after one. The same time twice is 24 hours.
  const yesterday = weekday(wall - dayMinutes * minuteMs)
  return (days.includes(weekday(wall)) && minute >= start) || (days.includes(yesterday) && minute < end)
}

function minuteOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  return hour * 60 + minute
}

/** 1 is Monday, 7 is Sunday. */
function weekday(wall: number): number {
  return new Date(wall).getUTCDay() || 7
}
