/** Program of full-disk.test.ts that may not write large files: reports which changes were stored and which were refused. */
import { writeSync } from 'node:fs'
import { openStore } from '../../../server/store/open-store.ts'
import { createSealer } from '../../../server/store/sealer.ts'

// Without a handler the signal ends the process before the write can fail.
process.on('SIGXFSZ', () => undefined)
const store = await openStore({ folder: process.argv[2] ?? '', sealer: createSealer(Buffer.alloc(32, 7)) })
const acknowledged: string[] = []
const refused: string[] = []
for (let round = 0; round < 12; round++) {
  await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const key = `${round}-${i}`
      const room = {
        id: store.nextRoomNumber(),
        room_id: key,
        topic: 'x'.repeat(140),
        owner_id: 'owner',
        host_password_sealed: '',
      }
      const caps = { attendee_max: 1, max_audio: 1, max_video: 1, room_extend_id: '', room_mode: 1 } as const
      const rest = { locked: false, closed: false, node: '', created_by: '', created_at: 1 }
      try {
        await store.transact([key], (transaction) => transaction.put('rooms', key, { ...room, ...caps, ...rest }))
        acknowledged.push(key)
      } catch {
        refused.push(key)
      }
    }),
  )
}
writeSync(1, JSON.stringify({ acknowledged, refused }))
process.exit(0)
