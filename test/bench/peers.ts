/**
 * `npm run bench -- peers`: our node beside Janus and Pion from Debian's packages; installs missing ones. One camera, one program of viewers, in turn in
 * one run: the results are ratios, because machines differ.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startCamera } from '../support/camera/camera.ts'
import { MediaPage, startBrowser } from '../support/media/browser.ts'
import { builtMediaProgram } from '../support/built.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { Crowd } from './crowd.ts'
import { startJanus } from './peers/janus.ts'
import type { Peer } from './peers/peer.ts'
import { startPion } from './peers/pion.ts'
import { processorRate } from './process-figures.ts'
import { viewedCamera } from './camera.ts'
import { report } from './table.ts'

const viewerCount = 50
const rounds = 2
const joins = 20
const settleMs = 3_000
const windowMs = 8_000

const packages: readonly [file: string, names: string[]][] = [
  ['/usr/bin/janus', ['janus']],
  ['/usr/bin/go', ['golang-go']],
  ['/usr/share/gocode/src/github.com/pion/webrtc', ['golang-github-pion-webrtc.v3-dev']],
  ['/usr/bin/ffmpeg', ['ffmpeg']],
]

/** Measurements of a server, in milliseconds. */
interface Figures {
  /** Processor time per second, for each viewer. */
  cpu: number[]
  first: number[]
}

/** Measures all of them into the table; about six minutes. */
export async function measurePeers(): Promise<void> {
  await install()
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-peers-'))
  try {
    await using camera = await startCamera(viewedCamera)
    const address = camera.url('/video')
    await using ours = await startOurs(address)
    await using pion = await startPion(folder, address)
    await using janus = await startJanus(folder, address)
    const all = [ours, pion, janus]
    const figures = new Map(all.map(({ name }): [string, Figures] => [name, { cpu: [], first: [] }]))
    for (let round = 0; round < rounds; round++) {
      for (const peer of all) figures.get(peer.name)?.cpu.push(await cpuOfViewers(peer))
    }
    await firstPictures(all, figures)
    reportAll(figures)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function install(): Promise<void> {
  const missing = packages.filter(([file]) => !existsSync(file)).flatMap(([, names]) => names)
  if (missing.length === 0) return
  console.error(`Installing ${missing.join(', ')} …`)
  const run = promisify(execFile)
  await run('apt-get', ['update', '-qq'])
  await run('apt-get', ['install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=500', ...missing])
}

async function startOurs(address: string): Promise<Peer> {
  const node = await TestMediaNode.start({ program: builtMediaProgram })
  await node.openRoom('bench')
  await node.addDevice('bench', 'cam', address)
  return {
    name: 'Roomdesk',
    pid: node.child.pid ?? 0,
    url: node.url,
    whep: `${node.url}/whep/bench/cam`,
    token: node.token('bench', { role: 'observer', lifeMs: 3_600_000 }),
    offers: false,
    [Symbol.asyncDispose]: async () => void (await node.stop()),
  }
}

/** Measures processor time per second and viewer, over the server's own without viewers, in milliseconds. */
async function cpuOfViewers(peer: Peer): Promise<number> {
  using crowd = new Crowd(peer.whep, peer.token, peer.offers ? 'offered' : 'whole')
  const alone = await processorRate(peer.pid, windowMs / 1_000)
  await crowd.ask({ open: viewerCount })
  await sleep(settleMs)
  const before = await crowd.ask({})
  const crowded = await processorRate(peer.pid, windowMs / 1_000)
  const after = await crowd.ask({ leave: true })
  const packets = (after.packets - before.packets) / viewerCount / (windowMs / 1000)
  const each = (crowded - alone) / viewerCount
  console.error(`  ${peer.name}: ${each.toFixed(2)} ms/s a viewer at ${packets.toFixed(0)} packets/s`)
  return each
}

/** Measures from the first request to the first picture, for viewers who start between two key frames. */
async function firstPictures(all: readonly Peer[], figures: ReadonlyMap<string, Figures>): Promise<void> {
  const browser = await startBrowser()
  try {
    const pages = new Map<Peer, MediaPage>()
    for (const peer of all) pages.set(peer, await MediaPage.open(browser, peer.url))
    for (let i = 0; i < joins; i++) {
      for (const [peer, page] of pages) {
        await sleep((i * 37) % 200)
        const answer = peer.offers
          ? await page.call('watchOffered', 'cam', peer.whep)
          : await page.call('watch', 'cam', peer.whep, peer.token, {})
        if (answer.problem !== null) throw new Error(answer.problem.detail)
        const { firstFrameMs } = await page.until('cam', (stats) => stats.firstFrameMs > 0)
        figures.get(peer.name)?.first.push(firstFrameMs)
        await page.call('close', 'cam', true)
      }
    }
  } finally {
    await browser.close()
  }
}

function reportAll(figures: ReadonlyMap<string, Figures>): void {
  const [[, ours], ...others] = [...figures] as [[string, Figures], ...[string, Figures][]]
  for (const [name, theirs] of others) {
    const compare = (what: string, of: (values: Figures) => number, digits: number, unit: string): void => {
      const ratio = of(ours) / of(theirs)
      const measured = `${ratio.toFixed(2)} (${of(ours).toFixed(digits)} to ${of(theirs).toFixed(digits)} ${unit})`
      report(`${what}, ours to ${name}'s`, measured, 'under 1', ratio < 1)
    }
    compare(`CPU for each of ${viewerCount} viewers`, ({ cpu }) => mean(cpu), 2, 'ms/s')
    compare(`first picture of ${joins} late joiners, median`, ({ first }) => sorted(first)[joins >> 1] ?? 0, 0, 'ms')
    compare(`first picture of ${joins} late joiners, longest`, ({ first }) => Math.max(...first), 0, 'ms')
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function sorted(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b)
}

if (import.meta.main) await measurePeers()
