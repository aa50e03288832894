/**
 * A leader that creates rooms at a rate. Further arguments: rooms per second, seconds.
 * Prints `leads`, starts when it reads a line, and prints a line of JSON: the milliseconds until each room was stored.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { storedRoom } from '../../support/stored-records.ts'
import { member } from './member.ts'

const [rate = 0, seconds = 0] = process.argv.slice(5).map(Number)
const controller = await member('leads')
const store = await controller.lead(AbortSignal.timeout(20_000))
const took: number[] = []
const under: Promise<void>[] = []

async function create(number: number): Promise<void> {
  const roomId = String(100_000_000 + number)
  const created_at = Date.now()
  await store.transact([`rooms/${roomId}`], (transaction) => {
    transaction.put('rooms', roomId, storedRoom(roomId, { id: store.nextRoomNumber(), created_at }))
  })
  took.push(Date.now() - created_at)
}

process.stdout.write('leads\n')
await once(process.stdin, 'data')
const began = performance.now()
for (let past = 0; past < seconds * 1_000; past = performance.now() - began) {
  while (under.length < (past / 1_000) * rate) under.push(create(under.length))
  await sleep(2)
}
await Promise.all(under)
process.stdout.write(`${JSON.stringify(took)}\n`, () => process.exit(0))
