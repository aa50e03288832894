/** Rooms of people on a Janus server, as `many` measures them on the embedded node. */
import { cpus } from 'node:os'
import { startJanus } from '../../support/janus/janus-server.ts'
import { type Guest, measureRoom, type RoomNode } from '../many.ts'
import { peopleOn } from './people-on.ts'

/** A room of 25 needs more than two cores, and its users need some as well. */
const sizes = cpus().length < 8 ? [4, 10] : [4, 10, 25]
const room = 'many'
/** One port for each watched stream. */
const rtpPorts = 3_000

/** Measures into the table; a minute. */
export async function measurePeople(): Promise<void> {
  for (const people of sizes) await measureRoom(await janusRoom(people))
}

async function janusRoom(count: number): Promise<RoomNode> {
  await using stack = new AsyncDisposableStack()
  const janus = stack.use(await startJanus({ rtpPorts }))
  const { adminKey: admin_key } = janus.configuration.secrets
  await janus.ask('videoroom', { request: 'create', room, publishers: count, videocodec: 'h264', admin_key })
  const { people, url } = stack.use(await peopleOn(janus))
  const guests = Array.from({ length: count }, (_, i): Guest => ({ userId: `p${i}`, token: '' }))
  for (const { userId } of guests) people.enter({ roomId: room, userId, userName: userId, role: 'member' })
  const owned = stack.move()
  return {
    name: 'a Janus server',
    pid: janus.pid,
    url,
    room,
    kind: 'janus',
    guests,
    [Symbol.asyncDispose]: async () => await owned.disposeAsync(),
  }
}
