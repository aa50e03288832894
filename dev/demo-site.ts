import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../shared/console/contract.ts'
import type { ConsoleResult } from '../shared/domain/outcome.ts'
import { sleep } from '../shared/sleep.ts'

/** Name of the simulated node, which has the simulated people. */
const simulatedNode = 'Hall 2'

/** Rooms with people; rooms without people are empty. */
const rooms = [
  { topic: 'Morning round, ward 3', people: ['Ann Keller', '王伟', 'Jonas Berg', 'Mira Patel'] },
  { topic: '每日例会', people: ['李娜', '张敏'] },
  { topic: 'Incident 2217', people: ['Tom Ashby', 'Sofia Rossi', 'Erik Lund'] },
  { topic: 'Schichtübergabe', people: ['Grace Otieno'] },
  { topic: 'Visitors, main entrance', people: [] },
  { topic: 'Training: new starters', people: [] },
]
/** Room with cameras that stream, on this machine's media node. */
const cameraRoom = 'Control room'
const cameras = ['Gate north', 'Yard, east', '走廊东侧']
/** Length of the recording in milliseconds. */
const recordingMs = 20_000

/** Returns the site file: a credential, the media node at this address, and a simulated node. */
export function demoSite(nodeAddress: string): Record<string, unknown> {
  return {
    credentials: [{ label: 'Demo client', access_key: 'demo', secret_key: 'demo-secret', p2p: true }],
    nodes: [
      { name: 'This machine', kind: 'embedded', addresses: [{ tag: 'local', addr: nodeAddress }] },
      { name: simulatedNode, kind: 'simulated', addresses: [{ tag: 'local', addr: '10.20.0.21:7082' }] },
    ],
  }
}

type Call = <N extends ProcedureName>(name: N, input: ProcedureInput<N>) => Promise<ProcedureOutput<N>>

/**
 * Fills an empty site with rooms, cameras and a recording, and brings the simulated people in, who leave when their
 * controller ends.
 * @param consoleUrl of the controller @param key of its console
 * @returns a link with which a developer joins the room with the cameras
 */
export async function fillDemoSite(consoleUrl: string, key: string): Promise<{ joinLink: string }> {
  const call = caller(consoleUrl, key)
  const known = new Map((await call('rooms.list', {})).items.map(({ topic, room_id }) => [topic, room_id]))
  const controlRoom = known.get(cameraRoom) ?? (await makeCameraRoom(call))
  for (const { topic, people } of rooms) {
    const room_id = known.get(topic) ?? (await call('rooms.create', { topic })).room_id
    for (const [index, user_name] of people.entries())
      await call('lab.join', { room_id, user_id: `${room_id}-${index + 1}`, user_name }).catch((error: unknown) =>
        console.error(`${user_name} is not in ${topic}: ${String(error)}`),
      )
  }
  const { url } = await call('media.join_link', { room_id: controlRoom })
  return { joinLink: url }
}

/** Makes the room with the cameras, all of which show the product's test film, and records it for some seconds. */
async function makeCameraRoom(call: Call): Promise<string> {
  const { room_id } = await call('first_run.make_room', { topic: cameraRoom })
  const [first = '', ...others] = cameras
  const { userAddress } = await call('first_run.add_test_camera', { userName: first })
  for (const userName of others)
    await call('devices.create', { roomId: room_id, userName, userAddress, join: 'background' })
  await call('overview.dismiss_welcome', {})
  await call('recordings.start', { room_id })
  void sleep(recordingMs)
    .then(() => call('recordings.stop', { room_id }))
    .catch(() => {})
  return room_id
}

/** Returns a function that calls console procedures as a script does. */
function caller(consoleUrl: string, key: string): Call {
  return async <N extends ProcedureName>(name: N, input: ProcedureInput<N>) => {
    const response = await fetch(`${consoleUrl}/rpc/${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(input ?? {}),
    })
    const result = (await response.json()) as ConsoleResult<ProcedureOutput<N>>
    if (!result.ok) throw new Error(`${name}: ${result.error.message}`)
    return result.value
  }
}
