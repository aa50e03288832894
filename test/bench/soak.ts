/**
 * Two cameras and three people in one room, everybody watching everything: `SOAK_MINUTES=10 npm run soak`. Every few seconds each picture must have
 * gone on; in the end the node must hold as much memory and as many descriptors as in the beginning. Ends with 1 when it does not.
 */
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { startCamera } from '../support/camera/camera.ts'
import { MediaPage, startBrowser } from '../support/media/browser.ts'
import { builtProgram, TestMediaNode } from '../support/media/media-node.ts'
import { SignalClient } from '../support/media/signal-client.ts'
import { descriptors, processorMs, residentMegabytes } from './process-figures.ts'

const minutes = Number(process.env.SOAK_MINUTES ?? 10)
/** Between two looks, in seconds. */
const every = 5
/** Until connections, pools and the compiler have settled: what is held then is compared with the end. Seconds. */
const settleSeconds = Math.min(60, minutes * 15)
const mostGrowthMegabytes = 10
const people = ['ann', 'bob', 'cat']
const cameras = ['door', 'yard']
const room = 'soak'

interface Person {
  page: MediaPage
  signal: SignalClient
  watches: string[]
}

/** What the node holds. */
interface Held {
  megabytes: number
  descriptors: number
}

const problems: string[] = []
if (!existsSync(builtProgram)) throw new Error('dist is missing: run "npm run build" first')
{
  await using camera = await startCamera({ pattern: 'ball' })
  await using node = await TestMediaNode.start({ program: builtProgram })
  const browser = await startBrowser()
  try {
    await node.openRoom(room)
    await node.addDevice(room, 'door', camera.url('/cam'))
    await node.addDevice(room, 'yard', camera.url('/opus'))
    const everybody = await Promise.all(people.map(async (name) => await enter(node, browser, name)))
    for (const person of everybody) await watchAll(node, person)
    await soak(node, everybody)
    for (const { page, signal, watches } of everybody) {
      for (const stream of [...watches, 'own']) await page.call('close', stream, true)
      signal.send({ type: 'leave' })
      await signal.closed
    }
    const left = await node.userIds(room)
    if (left.join() !== cameras.join()) problems.push(`in the room at the end: ${left.join(', ')}`)
  } finally {
    await browser.close()
  }
  problems.push(...node.complaints)
}
for (const problem of problems) console.error(`! ${problem}`)
console.log(problems.length === 0 ? `${minutes} minutes without a freeze` : `${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1

async function enter(
  node: TestMediaNode,
  browser: Awaited<ReturnType<typeof startBrowser>>,
  name: string,
): Promise<Person> {
  const signal = await SignalClient.join(node.url, room, { token: node.token(room, { userId: name }) })
  const page = await MediaPage.open(browser, node.url)
  const answer = await page.call('publish', 'own', `${node.url}/whip/${room}`, signal.joined.session, { codec: 'VP8' })
  if (answer.problem !== null) throw new Error(answer.problem.detail)
  return { page, signal, watches: [...cameras, ...people.filter((other) => other !== name)] }
}

async function watchAll(node: TestMediaNode, { page, signal, watches }: Person): Promise<void> {
  for (const stream of watches) {
    await page.call('watch', stream, `${node.url}/whep/${room}/${stream}`, signal.joined.session, {})
    await page.decodes(stream, 5)
  }
}

async function soak(node: TestMediaNode, everybody: Person[]): Promise<void> {
  const pid = node.child.pid ?? 0
  const held = async (): Promise<Held> => ({
    megabytes: await residentMegabytes(pid),
    descriptors: await descriptors(pid),
  })
  const began = performance.now()
  const elapsed = (): number => (performance.now() - began) / 1000
  let settled: Held | undefined
  let frames = await decoded(everybody)
  while (elapsed() < minutes * 60) {
    await pause(every * 1000)
    const next = await decoded(everybody)
    for (const [who, count] of next) {
      if (count <= (frames.get(who) ?? 0)) problems.push(`${Math.round(elapsed())} s: ${who} stands still at ${count}`)
    }
    frames = next
    if (settled === undefined && elapsed() > settleSeconds) settled = await held()
    const now = await held()
    const line = `${Math.round(elapsed())} s: ${now.megabytes.toFixed(1)} MB, ${now.descriptors} descriptors`
    if (Math.round(elapsed() / every) % 6 === 0) console.log(line)
  }
  const end = await held()
  const rate = (await processorMs(pid)) / elapsed()
  const shown = [...frames.values()].reduce((sum, count) => sum + count, 0) / frames.size / elapsed()
  console.log(
    `node: ${settled?.megabytes.toFixed(1) ?? '?'} → ${end.megabytes.toFixed(1)} MB, ` +
      `${settled?.descriptors ?? '?'} → ${end.descriptors} descriptors, ${rate.toFixed(0)} ms/s CPU; ${shown.toFixed(1)} fps a picture`,
  )
  if (settled === undefined) return
  if (end.megabytes - settled.megabytes > mostGrowthMegabytes) problems.push('memory grew')
  if (end.descriptors > settled.descriptors) problems.push('descriptors grew')
  for (const { signal } of everybody) signal.send({ type: 'ping', id: 1 })
  for (const { signal } of everybody) await signal.next('pong')
}

/** Pictures decoded so far, by who watches what. */
async function decoded(everybody: Person[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const [index, { page, watches }] of everybody.entries()) {
    for (const stream of watches) {
      counts.set(
        `${people[index] ?? ''} watching ${stream}`,
        (await page.call('stats', stream)).video?.framesDecoded ?? 0,
      )
    }
  }
  return counts
}
