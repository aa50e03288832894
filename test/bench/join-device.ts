/**
 * Time until createOutgoingUser answers that a camera's picture is in its room, against ffprobe reading the same camera:
 * `node test/bench/join-device.ts`, or called by another program. The camera restarts its pipeline each time, as GStreamer's server does for its first client.
 */
import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ApiClient } from '../support/api-client.ts'
import { type Camera, startCamera } from '../support/camera/camera.ts'
import { removeFolder, startHeadless } from '../support/headless.ts'
import { report } from './table.ts'

const credential = { access_key: 'bench', secret_key: 'bench-secret', label: 'Bench', p2p: true }
const site = { credentials: [credential], nodes: [{ name: 'here', kind: 'embedded' }] }
/** Fastest options of ffprobe: by default it watches for two seconds. */
const hurried = ['-analyzeduration', '0', '-probesize', '32']
/** Time until the camera ends an unused pipeline, in milliseconds. */
const restMs = 300

/** Medians of the rounds, in milliseconds. */
export interface JoinTimes {
  join: number
  ffprobe: number
  /** join / ffprobe; the goal is at most 1.2. */
  ratio: number
}

/** Measures on the built program; rounds of both alternate, so that both run under the same load. */
export async function measureJoin(turns = 15): Promise<JoinTimes> {
  const server = await startHeadless({ site })
  const camera = await startCamera()
  try {
    const api = new ApiClient(server.ready, credential)
    await api.authenticate()
    const roomId = await api.createRoom()
    const joins: number[] = []
    const probes: number[] = []
    // The first round of each is a warm-up.
    for (let turn = 0; turn <= turns; turn++) {
      const [join, probe] = [await joinOnce(api, roomId, camera), await probeOnce(camera)]
      if (turn > 0) {
        joins.push(join)
        probes.push(probe)
      }
    }
    const [join, ffprobe] = [median(joins), median(probes)]
    return { join, ffprobe, ratio: join / ffprobe }
  } finally {
    await server.stop()
    await camera.kill()
    await removeFolder(server.folder)
  }
}

async function joinOnce(api: ApiClient, roomId: string, camera: Camera): Promise<number> {
  const device = { roomId, userId: 'camera', userAddress: camera.url('/cam') }
  const began = performance.now()
  const answer = await api.outgoing('createOutgoingUser', { ...device, userName: 'Camera' })
  const took = performance.now() - began
  if (answer.ret !== 0) throw new Error(JSON.stringify(answer))
  await api.outgoing('destroyOutgoingUser', device)
  await pause(restMs)
  return took
}

async function probeOnce(camera: Camera): Promise<number> {
  const began = performance.now()
  const options = [
    '-v',
    'error',
    '-rtsp_transport',
    'tcp',
    ...hurried,
    '-show_entries',
    'stream=codec_name',
    '-of',
    'csv=p=0',
  ]
  const { stdout } = await promisify(execFile)('ffprobe', [...options, camera.url('/cam')])
  const took = performance.now() - began
  if (!stdout.includes('h264')) throw new Error(stdout)
  await pause(restMs)
  return took
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Measures the figure for the table of `npm run bench`. */
export async function measureJoinDevice(): Promise<void> {
  const { join, ffprobe, ratio } = await measureJoin()
  const measured = `${Math.round(join)} ms, ffprobe ${Math.round(ffprobe)} ms: ${ratio.toFixed(2)} of it`
  report('createOutgoingUser to its answer', measured, 'at most 1.2 of ffprobe', ratio <= 1.2)
}

if (import.meta.main) {
  const { join, ffprobe, ratio } = await measureJoin()
  console.log(
    `join a device: ${Math.round(join)} ms, ffprobe: ${Math.round(ffprobe)} ms, ratio ${ratio.toFixed(2)} (goal 1.2)`,
  )
}
