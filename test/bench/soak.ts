/**
 * Four cameras and six people in one room: `npm run soak`, or `SOAK_MINUTES=10 npm run soak` for less than 30 minutes. One camera dies and returns repeatedly,
 * one person is behind a link of 600 kbit/s, and one changes networks. For everybody else no picture may stand still for a second, and at the end
 * the node must have the same live memory, resident memory and descriptors as at the beginning. Exits with 1 otherwise.
 */
import { existsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startBrowser } from '../support/media/browser.ts'
import { builtMediaProgram } from '../support/built.ts'
import { descriptors, hostTime, liveMegabytes, processorMs, residentMegabytes } from './process-figures.ts'
import { SoakRoom } from './soak-room.ts'

const minutes = Number(process.env.SOAK_MINUTES ?? 30)
/** Interval between measurements, in seconds. */
const lookEvery = 5
/** Interval between failures of the camera; after every other one a user changes networks. */
const flapEvery = 30
/**
 * Time until connections, packet histories and the compiler have settled, when the baseline is taken. Live memory shows leaks; resident memory is larger, and grows
 * for longer: it includes uncollected garbage, and free pages of the allocator.
 */
const settleSeconds = Math.min(300, minutes * 20)
const maxGrowth = { live: 3, resident: 10 }
const maxFreezeMs = 1_000
/** Share of time taken by the host above which a virtual machine counts as stopped: standstills are then reported, and not counted against us. */
const maxStolen = 0.1
/** Maximum time without pictures after a change of networks. */
const maxMoveMs = 3_000

/** Resources of the node. */
interface Held {
  /** Megabytes. */
  live: number
  resident: number
  descriptors: number
}

if (!existsSync(builtMediaProgram)) throw new Error('dist is missing: run "npm run build" first')
const problems: string[] = []
const liveMemoryFile = join(await mkdtemp(join(tmpdir(), 'roomdesk-soak-')), 'live')
process.env.LIVE_MEMORY_FILE = liveMemoryFile
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
    live: await liveMegabytes(pid, liveMemoryFile),
    resident: await residentMegabytes(pid),
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
    if (longest > maxMoveMs) note(`pictures came back ${Math.round(longest)} ms after a change of network`)
  }).catch((error: unknown) => note(`nobody dies or moves any more: ${String(error)}`))
  let settled: Held | undefined
  let most = 0
  let maxOfAll = 0
  let host = await hostTime()
  let tookBefore = 0
  while (elapsed() < minutes * 60) {
    await pause(lookEvery * 1000)
    for (const camera of await room.lostCameras()) note(`the camera ${camera} is out of the room`)
    const gaps = await room.maxGaps()
    const hostNow = await hostTime()
    const took = (hostNow.stolen - host.stolen) / (hostNow.all - host.all)
    // A freeze may have begun before the last measurement.
    const stolen = Math.max(took, tookBefore)
    host = hostNow
    tookBefore = took
    for (const { who, ms, sent } of gaps) {
      if (stolen <= maxStolen) maxOfAll = Math.max(maxOfAll, ms)
      if (ms <= maxFreezeMs) continue
      const what = `${who} stood still for ${Math.round(ms)} ms, sent ${sent}; the host took ${(stolen * 100).toFixed(0)}%`
      if (stolen <= maxStolen) note(what)
      else console.log(`${Math.round(elapsed())} s: ${what}`)
    }
    if (settled === undefined) {
      // There are fewer while a camera is away.
      most = Math.max(most, await descriptors(pid))
      if (elapsed() > settleSeconds) settled = { ...(await held()), descriptors: most }
    }
    if (Math.round(elapsed() / lookEvery) % 12 === 0)
      console.log(`${Math.round(elapsed())} s: ${inWords(await held())}`)
  }
  stop.abort()
  await beside
  const slow = await room.slowPictures()
  if (slow === 0) note('who is behind the small link was shown nothing')
  // Ended resources are released within a moment.
  await pause(lookEvery * 1000)
  const end = await held()
  const rate = (await processorMs(pid)) / elapsed()
  console.log(
    `node: ${settled === undefined ? '?' : inWords(settled)} → ${inWords(end)}; ${rate.toFixed(0)} ms/s CPU; longest freeze ` +
      `${Math.round(maxOfAll)} ms; ${room.flaps} deaths of a camera, ${room.moves} changes of network`,
  )
  if (settled === undefined) return
  if (end.live - settled.live > maxGrowth.live) note('it keeps more and more')
  if (end.resident - settled.resident > maxGrowth.resident) note('memory grew')
  if (end.descriptors > settled.descriptors) note('descriptors grew')
}

function inWords({ live, resident, descriptors }: Held): string {
  return `${live.toFixed(1)} MB kept, ${resident.toFixed(1)} MB resident, ${descriptors} descriptors`
}

/** Repeats at this interval in seconds until the signal. */
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
