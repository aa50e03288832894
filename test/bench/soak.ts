/**
 * Four cameras and six people in one room: `npm run soak`, or `SOAK_MINUTES=10 npm run soak` for less than 30 minutes. One camera dies and comes back again and
 * again, one person is behind a link of 600 kbit/s, and one changes networks. For everybody else no picture may stand still for a second, and in the end
 * the node must hold as much memory and as many descriptors as in the beginning. Ends with 1 when it does not.
 */
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { startBrowser } from '../support/media/browser.ts'
import { builtProgram } from '../support/media/media-node.ts'
import { descriptors, hostTime, processorMs, residentMegabytes } from './process-figures.ts'
import { SoakRoom } from './soak-room.ts'

const minutes = Number(process.env.SOAK_MINUTES ?? 30)
/** Between two looks. Seconds. */
const lookEvery = 5
/** From one death of the camera that flaps to the next; after every other one somebody changes networks. */
const flapEvery = 30
/** Until connections, pools and the compiler have settled: what is held then is compared with the end. */
const settleSeconds = Math.min(120, minutes * 20)
const mostGrowthMegabytes = 10
const longestFreezeMs = 1_000
/** A virtual machine whose host took more of it since the last look was stopped itself: what stood still then is told, and counts as none of ours. */
const mostStolen = 0.1
/** What the one who changed networks may be without pictures. */
const longestMoveMs = 3_000

/** What the node holds. */
interface Held {
  megabytes: number
  descriptors: number
}

if (!existsSync(builtProgram)) throw new Error('dist is missing: run "npm run build" first')
const problems: string[] = []
const browser = await startBrowser()
try {
  await using room = await SoakRoom.open(browser)
  await soak(room)
  await room.leave()
  const left = await room.node.userIds(room.name)
  if (left.join() !== room.cameras.join()) problems.push(`in the room at the end: ${left.join(', ')}`)
  problems.push(...room.node.complaints)
} finally {
  await browser.close()
}
for (const problem of problems) console.error(`! ${problem}`)
console.log(problems.length === 0 ? `${minutes} minutes without a freeze` : `${problems.length} problems`)
process.exit(problems.length === 0 ? 0 : 1)

async function soak(room: SoakRoom): Promise<void> {
  const pid = room.node.child.pid ?? 0
  const held = async (): Promise<Held> => ({
    megabytes: await residentMegabytes(pid),
    descriptors: await descriptors(pid),
  })
  const began = performance.now()
  const elapsed = (): number => (performance.now() - began) / 1000
  const note = (text: string): void => {
    const line = `${Math.round(elapsed())} s: ${text}`
    problems.push(line)
    console.error(`! ${line}`)
  }
  const stop = new AbortController()
  const beside = again(flapEvery, stop.signal, async () => {
    const wrong = await room.flap()
    if (wrong !== undefined) note(wrong)
    if (room.flaps % 2 === 0) return
    const longest = await room.move()
    console.log(`${Math.round(elapsed())} s: another network, pictures back after ${Math.round(longest)} ms`)
    if (longest > longestMoveMs) note(`pictures came back ${Math.round(longest)} ms after a change of network`)
  }).catch((error: unknown) => note(`nobody dies or moves any more: ${String(error)}`))
  let settled: Held | undefined
  let longestOfAll = 0
  let host = await hostTime()
  let tookBefore = 0
  while (elapsed() < minutes * 60) {
    await pause(lookEvery * 1000)
    for (const camera of await room.lostCameras()) note(`the camera ${camera} is out of the room`)
    const gaps = await room.longestGaps()
    const hostNow = await hostTime()
    const now = await held()
    const took = (hostNow.stolen - host.stolen) / (hostNow.all - host.all)
    // A freeze may have begun before the last look.
    const stolen = Math.max(took, tookBefore)
    host = hostNow
    tookBefore = took
    for (const { who, ms, sent } of gaps) {
      if (stolen <= mostStolen) longestOfAll = Math.max(longestOfAll, ms)
      if (ms <= longestFreezeMs) continue
      const what = `${who} stood still for ${Math.round(ms)} ms, sent ${sent}; the host took ${(stolen * 100).toFixed(0)}%`
      if (stolen <= mostStolen) note(what)
      else console.log(`${Math.round(elapsed())} s: ${what}`)
    }
    if (settled === undefined && elapsed() > settleSeconds) settled = await held()
    if (Math.round(elapsed() / lookEvery) % 6 === 0)
      console.log(`${Math.round(elapsed())} s: ${now.megabytes.toFixed(1)} MB, ${now.descriptors} descriptors`)
  }
  stop.abort()
  await beside
  const slow = await room.slowPictures()
  if (slow === 0) note('who is behind the small link was shown nothing')
  // What has just ended is cleared away within a moment.
  await pause(lookEvery * 1000)
  const end = await held()
  const rate = (await processorMs(pid)) / elapsed()
  console.log(
    `node: ${settled?.megabytes.toFixed(1) ?? '?'} → ${end.megabytes.toFixed(1)} MB, ` +
      `${settled?.descriptors ?? '?'} → ${end.descriptors} descriptors, ${rate.toFixed(0)} ms/s CPU; longest freeze ` +
      `${Math.round(longestOfAll)} ms; ${room.flaps} deaths of a camera, ${room.moves} changes of network`,
  )
  if (settled === undefined) return
  if (end.megabytes - settled.megabytes > mostGrowthMegabytes) note('memory grew')
  if (end.descriptors > settled.descriptors) note('descriptors grew')
}

/** Runs it every so many seconds until the signal. */
async function again(seconds: number, signal: AbortSignal, run: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await pause(seconds * 1000, undefined, { signal })
    } catch {
      return
    }
    await run()
  }
}
