import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { openCameraPark } from '../support/camera/camera-park.ts'
import { type Headless, removeFolder, startHeadless } from '../support/headless.ts'
import { processorMs } from '../bench/process-figures.ts'

const credential = { label: 'Park', access_key: 'park', secret_key: 'park-secret' }
const site = { credentials: [credential], nodes: [{ name: 'here', kind: 'embedded' }] }
const cameras = 1_000
const living = 100
const rooms = 20
/** Half of the measuring time for the cost of dead cameras, in milliseconds: delays grow in the first half, and are at their maximum in the second. */
const watchMs = 30_000

/** Lists the process ids of a process and its children. */
async function family(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return [pid, ...children.trim().split(' ').filter(Boolean).map(Number)]
}

async function cost(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(pids.map(processorMs))
  return each.reduce((sum, one) => sum + one, 0)
}

/** Measures the load of the site's processes, as shares of one core. */
async function load(server: Headless): Promise<number> {
  const pids = await family(server.ready.pid)
  const [before, began] = [await cost(pids), performance.now()]
  await new Promise((resolve) => setTimeout(resolve, watchMs))
  return ((await cost(pids)) - before) / (performance.now() - began)
}

/** Starts the site on its data and waits until every live camera is in its room; measures the milliseconds. */
async function startAndJoin(folder: string): Promise<{ server: Headless; took: number }> {
  const server = await startHeadless({ folder, site })
  const began = performance.now()
  const joined = async (): Promise<number> => {
    const views = await server.rpc('devices.list', {})
    return views.filter(({ state }) => state === 'joined').length
  }
  while ((await joined()) < living && performance.now() - began < 30_000) {
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return { server, took: performance.now() - began }
}

test('Of 1,000 cameras 900 are dead: every live one is in its room within 5 s of the start, and the dead ones cost less than 5% of a core over the first minute, and from its second half on', {
  timeout: 240_000,
}, async () => {
  await using park = await openCameraPark()
  const first = await startHeadless({ site })
  const api = new ApiClient(first.ready, credential)
  await api.authenticate()
  const roomIds = await Promise.all(Array.from({ length: rooms }, () => api.createRoom({ attendee_max: 1_000 })))
  // The dead ones come first: taken in order, they would delay all live ones.
  const lines = Array.from({ length: cameras }, (_, number) => {
    const alive = number >= cameras - living
    const address = alive ? park.live(number) : park.dead(number)
    return `${roomIds[number % rooms]},cam-${number},Camera ${number},${address}`
  })
  const imported = await first.rpc('devices.import', {
    text: ['roomId,userId,userName,userAddress', ...lines].join('\n'),
  })
  expect(imported.filter(({ action }) => action === 'create')).toHaveLength(cameras)
  await first.stop()
  await expect.poll(() => park.playing()).toBe(0)

  const { server: again, took } = await startAndJoin(first.folder)
  const early = await load(again)
  const late = await load(again)
  await again.rpc('devices.pause', {
    userIds: Array.from({ length: cameras - living }, (_, number) => `cam-${number}`),
  })
  const lateWithout = await load(again)
  await again.stop()
  // Starts again with only the live cameras, to subtract their cost.
  const { server: alone } = await startAndJoin(first.folder)
  const earlyWithout = await load(alone)
  await alone.stop()
  await removeFolder(first.folder)
  const share = (value: number): string => `${(value * 100).toFixed(1)}%`
  console.log(
    `${living} live of ${cameras}: all joined after ${Math.round(took)} ms; load in the first ${watchMs / 1000} s ${share(early)}, without the dead ${share(earlyWithout)}; then ${share(late)}, without ${share(lateWithout)}`,
  )
  expect(took).toBeLessThan(5_000)
  // The first half has five attempts per camera, by processes started a second ago; from the second half on the load is constant.
  expect((early - earlyWithout + late - lateWithout) / 2).toBeLessThan(0.05)
  expect(late - lateWithout).toBeLessThan(0.05)
})
