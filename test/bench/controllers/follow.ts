/**
 * A replica that measures how long each room takes from its creation into this memory.
 * Prints `follows`, and on SIGTERM a line of JSON: the milliseconds of every room.
 */
import { member } from './member.ts'

const lags: number[] = []
const { followed } = await member('follows')
followed.onChange((changes) => {
  const now = Date.now()
  for (const { collection, value } of changes)
    if (collection === 'rooms' && value !== undefined) lags.push(now - value.created_at)
})
process.once('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify(lags)}\n`, () => process.exit(0))
})
process.stdout.write('follows\n')
