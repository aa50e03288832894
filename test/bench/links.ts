/**
 * People on small, lossy or slow links: `node test/bench/links.ts`, also part of `npm run bench`; `… vp8 second-stream` measures only these rows.
 * Cameras are GStreamer's, viewers are Chromium; the measure is the frames that it decodes.
 */
import { existsSync } from 'node:fs'
import { startCamera } from '../support/camera/camera.ts'
import { startBrowser } from '../support/media/browser.ts'
import { startLossyProxy } from '../support/media/lossy-proxy.ts'
import { builtMediaProgram } from '../support/built.ts'
import { TestMediaNode } from '../support/media/media-node.ts'
import { cameraRows, fps } from './camera-link.ts'
import { layeredRows } from './layered.ts'
import { uplinkRows } from './uplink.ts'

/** Addresses of the proxies: of a link that changes, and of one that is always good. */
const [changing, good] = ['127.0.0.2', '127.0.0.3'] as const

/**
 * Measures one row after the other, into the table; all of them take about eight minutes.
 * @param asked names of rows; empty: all
 */
export async function measureLinks(asked: readonly string[] = []): Promise<void> {
  if (!existsSync(builtMediaProgram)) throw new Error('dist is missing: run "npm run build" first')
  await using large = await startCamera({ fps, kbps: 2_000, gop: 50, pattern: 'snow' })
  await using small = await startCamera({ width: 320, height: 180, fps, kbps: 400, gop: 50, pattern: 'snow' })
  const rows = [...cameraRows(large, small), ...uplinkRows, ...layeredRows]
  const unknown = asked.filter((name) => !rows.some((row) => row.name === name))
  if (unknown.length > 0) {
    throw new Error(`There is no ${unknown.join(', ')}: choose of ${rows.map(({ name }) => name).join(', ')}.`)
  }
  await using node = await TestMediaNode.start({
    program: builtMediaProgram,
    settings: { advertised: [changing, good] },
  })
  await using first = await startLossyProxy(node.udpPort, 0, changing)
  await using second = await startLossyProxy(node.udpPort, 0, good)
  const browser = await startBrowser()
  try {
    for (const { name, measure } of rows) {
      if (asked.length === 0 || asked.includes(name)) await measure({ node, browser, changing: first, good: second })
    }
  } finally {
    await browser.close()
  }
}

if (import.meta.main) await measureLinks(process.argv.slice(2))
