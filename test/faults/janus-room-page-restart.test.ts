import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startEncodedCamera } from '../support/camera/encoded-camera.ts'
import { expectPeace, RoomSite, type Visitor } from '../support/sites/room-site.ts'
import { type JanusServer, startJanus } from '../support/janus/janus-server.ts'

/** Maximum time from the return of the site until users see each other, in milliseconds. */
const backMs = 5_000

/** Users and a camera in a room on a Janus server while the process of the room page ends. */
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
  await site.camera(room, `yard-${room}`, 'Yard', startEncodedCamera)
  const [ann, bo] = [
    await site.join(await site.link(room, { user_id: 'ann', user_name: 'Ann' })),
    await site.join(await site.link(room, { user_id: 'bo', user_name: 'Bo' })),
  ]
  visitors = [ann, bo]
  await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('Yard'), bo.sees('Yard')])
  await Promise.all(visitors.map((visitor) => visitor.button('Chat').click()))
  return { room, ann, bo }
}

/** Waits until a chat message reaches the others again, and all see each other. @param line new message */
async function back(ann: Visitor, bo: Visitor, line: string): Promise<void> {
  await ann.says(line)
  await bo.reads(line)
  await Promise.all([ann.sees('Bo'), bo.sees('Ann'), ann.sees('Yard')])
}

test('the page finds another path to Janus when its computer changes networks: the same sessions continue', async () => {
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
  // Two streams that she watches, and the one she sends.
  await expect.poll(() => restarts, { timeout: 10_000 }).toEqual([200, 200, 200])
  await Promise.all([ann.sees('Bo', 60), ann.sees('Yard', 60), bo.sees('Ann', 60)])
  expect(begun).toEqual([])
}, 120_000)

test('the process of the room page is killed: media continues, and chat messages sent meanwhile arrive within 5 s', async () => {
  const { ann, bo } = await meeting('Program')
  const visits = await Promise.all([ann.watchPeace('Bo', 'Yard'), bo.watchPeace('Ann', 'Yard')])
  const { pid } = site.controller.ready
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').map(Number)
  expect(children).toHaveLength(1)
  const began = performance.now()
  for (const child of children) process.kill(child, 'SIGKILL')
  // The process cannot end media that goes through Janus.
  await bo.sees('Yard', 3)
  await back(ann, bo, 'Still there?')
  const took = performance.now() - began
  console.info(
    `chat reached the others, and all saw each other, ${took.toFixed(0)} ms after the process of the room page was killed`,
  )
  expect(took).toBeLessThan(backMs)
  await expectPeace(...visits)
}, 120_000)

test('the controller is stopped cleanly and started again: pictures continue on the same connections', async () => {
  const { ann, bo } = await meeting('Order')
  const made = await Promise.all([ann, bo].map((visitor) => visitor.watchConnections()))
  await site.stop()
  await Promise.all([ann.sees('Yard', 5), bo.sees('Ann', 5)])
  await site.startAgain()
  await back(ann, bo, 'There again')
  expect(await Promise.all(made.map((count) => count()))).toEqual([0, 0])
  // The controller can still end their sessions.
  await bo.button('Leave').click()
  await ann.tile('Bo').waitFor({ state: 'detached' })
}, 120_000)

test('the controller is killed: pictures continue while it is away, and users are back within 5 s of its start', async () => {
  const { room, ann, bo } = await meeting('Controller')
  const made = await Promise.all([ann, bo].map((visitor) => visitor.watchConnections()))
  await site.controller.stop('SIGKILL')
  await Promise.all([ann.sees('Yard', 10), bo.sees('Ann', 10)])
  await site.startAgain()
  const began = performance.now()
  await back(ann, bo, 'There again')
  const took = performance.now() - began
  console.info(`people are back ${took.toFixed(0)} ms after the controller is there again`)
  expect(took).toBeLessThan(backMs)
  // On the same connections.
  expect(await Promise.all(made.map((count) => count()))).toEqual([0, 0])
  const ids = async () =>
    (await site.controller.rpc('rooms.get', { room_id: room })).users.map(({ user_id }) => user_id)
  await expect.poll(async () => (await ids()).sort()).toEqual(['ann', 'bo', `yard-${room}`])
}, 120_000)
