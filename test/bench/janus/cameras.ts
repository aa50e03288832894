/** Cameras that a controller adds to a Janus server, and their viewers: cost of each in processor time and memory of that server. `media` uses the same cameras for the embedded node. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startCamera } from '../../support/camera/camera.ts'
import { type Headless, startHeadless } from '../../support/headless.ts'
import { type JanusServer, startJanus } from '../../support/janus/janus-server.ts'
import { pulledCamera, viewedCamera } from '../camera.ts'
import { Crowd } from '../crowd.ts'
import { processorMs, processorRate, residentMegabytes } from '../process-figures.ts'
import { report } from '../table.ts'
import { peopleOn } from './people-on.ts'

const cameraCount = 50
const viewerCount = 50
const settleMs = 4_000
const windowSeconds = 10

/** Measures many cameras in rooms of their own, without viewers. */
export async function measureCameras(): Promise<void> {
  await using camera = await startCamera(pulledCamera)
  await onJanus(async (site, janus) => {
    await putCamera(site, 0, camera.url('/cam'))
    await sleep(settleMs)
    const [memory, own] = [await residentMegabytes(janus.pid), await processorMs(site.ready.pid)]
    const began = performance.now()
    for (let n = 1; n <= cameraCount; n++) await putCamera(site, n, `rtsp://127.0.0.${n}:${camera.port}/cam`)
    const joined = (performance.now() - began) / cameraCount
    await sleep(settleMs)
    const used = (await processorRate(janus.pid, windowSeconds)) / (cameraCount + 1)
    const kept = ((await residentMegabytes(janus.pid)) - memory) / cameraCount
    const controller = await processorRate(site.ready.pid, windowSeconds)
    const states = (await site.rpc('devices.list', {})).filter(({ state }) => state === 'joined').length
    report(
      `${cameraCount + 1} cameras of 1 Mbit/s on a Janus server, each in a room`,
      `${states} joined, ${used.toFixed(2)} ms/s CPU and ${kept.toFixed(2)} MB for each, ${joined.toFixed(0)} ms to join each; the controller ${controller.toFixed(1)} ms/s with all of them (${(((await processorMs(site.ready.pid)) - own) / cameraCount).toFixed(0)} ms for each until now)`,
      'all joined',
      states === cameraCount + 1,
    )
  })
}

/** Measures many viewers of one camera. */
export async function measureViewers(): Promise<void> {
  await using camera = await startCamera(viewedCamera)
  await onJanus(async (site, janus) => {
    const room = await putCamera(site, 0, camera.url('/cam'))
    await using endpoint = await peopleOn(janus)
    using crowd = new Crowd(`${endpoint.url}/whep/${room}/cam-0`, '', 'offered')
    await crowd.ask({ open: 2 })
    await sleep(settleMs)
    const [alone, first] = [await processorRate(janus.pid, windowSeconds), await residentMegabytes(janus.pid)]
    await crowd.ask({ open: viewerCount })
    await sleep(settleMs)
    const before = await crowd.ask({})
    const each = ((await processorRate(janus.pid, windowSeconds)) - alone) / viewerCount
    const after = await crowd.ask({})
    const kept = ((await residentMegabytes(janus.pid)) - first) / viewerCount
    const packets = (after.packets - before.packets) / (viewerCount + 2) / windowSeconds
    report(
      `each of ${viewerCount} viewers of one 2 Mbit/s camera on a Janus server`,
      `${each.toFixed(2)} ms/s CPU and ${kept.toFixed(2)} MB of the server at ${packets.toFixed(0)} packets/s (the camera and two viewers ${alone.toFixed(1)} ms/s)`,
      'none',
      packets > 0,
    )
  })
}

/** Runs with a controller whose only node is a Janus server. */
async function onJanus(measure: (site: Headless, janus: JanusServer) => Promise<void>): Promise<void> {
  await using janus = await startJanus({ rtpPorts: 2_000 })
  const site = await startHeadless({ site: { nodes: [janus.asNode()] } })
  try {
    await measure(site, janus)
  } finally {
    await site.remove()
  }
}

/** Adds a camera to a new room. Resolves to the number of the room. */
async function putCamera(site: Headless, number: number, userAddress: string): Promise<string> {
  const { room_id: roomId } = await site.rpc('rooms.create', { topic: `Yard ${number}` })
  const userId = `cam-${number}`
  await site.rpc('devices.create', { roomId, userId, userName: userId, userAddress, join: 'required' })
  return roomId
}
