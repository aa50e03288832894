/** 14:05:09.123 in the operator's time zone: distinguishes requests of one second. */
export function exactTime(at: number): string {
  const time = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
  return `${clock}.${String(time.getMilliseconds()).padStart(3, '0')}`
}
