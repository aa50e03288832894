import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { RoomSite, type Visitor } from '../e2e/room-page-visit.ts'
import { type JanusServer, startJanus } from '../support/janus/janus-server.ts'

/** From the moment that the site is there again until people see each other, in milliseconds. */
const backMs = 5_000

/** People and a camera in a room on a Janus server while what shows them the page dies. */
let janus: JanusServer
let site: RoomSite
let visitors: Visitor[] = []
beforeAll(async () => {
  janus = await startJanus({ tokenSecret: 'a secret that signs tokens' })
  site = await RoomSite.start({ nodes: [janus.asNode()] })
})
afterEach(async () => {
  for (const visitor of visitors) {
    expect(visitor.problems).toEqual([])
    await visitor.close()
  }
  visitors = []
})
afterAll(async () => {
  await site[Symbol.asyncDispose]()
  await janus[Symbol.asyncDispose]()
})

async function meeting(topic: string): Promise<{ room: string; ann: Visitor; bo: Visitor }> {
  const room = await site.room({ topic })
  await site.camera(room, `yard-${room}`, 'Yard')
  const [ann, bo] = [
    await site.join(await site.link(room, { user_id: 'ann', user_name: 'Ann' })),
    await site.join(await site.link(room, { user_id: 'bo', user_name: 'Bo' })),
  ]
  visitors = [ann, bo]
  await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('Yard'), bo.sees('Yard')])
  return { room, ann, bo }
}

/** Both are in the page's room again, and see each other. */
async function back(ann: Visitor, bo: Visitor): Promise<void> {
  await Promise.all([ann, bo].map(({ page }) => page.getByText('You are connected again').first().waitFor()))
  await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('Yard')])
}

test('the page finds another way to Janus when its computer is on another network: what it sends and watches goes on in the same sessions', async () => {
  const { ann, bo } = await meeting('Network')
  const restarts: number[] = []
  ann.page.on('response', (response) => {
    if (response.request().method() === 'PATCH') restarts.push(response.status())
  })
  const begun: string[] = []
  ann.page.on('request', (request) => {
    if (request.method() === 'POST') begun.push(request.url())
  })
  await ann.page.evaluate("void window.dispatchEvent(new Event('online'))")
  // Two that she watches, and what she sends.
  await expect.poll(() => restarts, { timeout: 10_000 }).toEqual([200, 200, 200])
  await Promise.all([ann.sees('Bo', 60), ann.sees('Yard', 60), bo.sees('Ann', 60)])
  expect(begun).toEqual([])
}, 120_000)

test('the program of the room page is killed: pictures go on meanwhile, and people are back within 5 s', async () => {
  const { ann, bo } = await meeting('Program')
  const { pid } = site.controller.ready
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').map(Number)
  expect(children).toHaveLength(1)
  const began = performance.now()
  for (const child of children) process.kill(child, 'SIGKILL')
  // Nothing of what goes by Janus is the program's to end.
  await bo.sees('Yard', 3)
  await back(ann, bo)
  const took = performance.now() - began
  console.info(`people are back ${took.toFixed(0)} ms after the program of the room page was killed`)
  expect(took).toBeLessThan(backMs)
}, 120_000)

test('the controller is killed: pictures go on while it is away, and people are back within 5 s of its start', async () => {
  const { room, ann, bo } = await meeting('Controller')
  await site.controller.stop('SIGKILL')
  await Promise.all([ann.sees('Yard', 10), bo.sees('Ann', 10)])
  await site.startAgain()
  const began = performance.now()
  await back(ann, bo)
  const took = performance.now() - began
  console.info(`people are back ${took.toFixed(0)} ms after the controller is there again`)
  expect(took).toBeLessThan(backMs)
  const ids = async () =>
    (await site.controller.rpc('rooms.get', { room_id: room })).users.map(({ user_id }) => user_id)
  await expect.poll(async () => (await ids()).sort()).toEqual(['ann', 'bo', `yard-${room}`])
}, 120_000)
