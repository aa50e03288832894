// Draws every icon from assets/icon.svg: PNGs for Linux, .ico for Windows, .icns for macOS, the tray's in both states.
// Run when the drawing changes; what it makes is committed. Needs Chromium (apt-get install chromium, or ROOMDESK_CHROMIUM).
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { chromiumProgram } from '../test/support/chromium-program.ts'

const assets = join(import.meta.dirname, '..', 'assets')
const drawing = await readFile(join(assets, 'icon.svg'), 'utf8')

/** Freedesktop icon theme sizes. */
const linuxSizes = [16, 24, 32, 48, 64, 96, 128, 256, 512]
const windowsSizes = [16, 20, 24, 32, 40, 48, 64, 128, 256]
/** Types of Apple's icon container that hold a PNG, with its size. */
const macTypes = {
  icp4: 16,
  icp5: 32,
  ic07: 128,
  ic08: 256,
  ic09: 512,
  ic10: 1024,
  ic11: 32,
  ic12: 64,
  ic13: 256,
  ic14: 512,
}

/** The mark in black on nothing, as macOS wants it in its menu bar, a little larger than inside its tile. */
const template = (svg) =>
  svg
    .replace('viewBox="0 0 32 32"', 'viewBox="3 3.5 26 26"')
    .replace('<rect id="tile"', '<rect id="tile" visibility="hidden"')
    .replaceAll(/#45c0de|#ffffff|#ff7a45/g, '#000000')
const alarm = (svg) => svg.replace(' visibility="hidden" />\n</svg>', ' />\n</svg>')
/** macOS tells the states apart by shape: the lens is missing while something wants attention. */
const blind = (svg) => svg.replace('<circle id="lens"', '<circle id="lens" visibility="hidden"')

const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
const browser = await chromium.launch({
  executablePath: chromiumProgram,
  args: asRoot,
})
const page = await browser.newPage()

/** @param {string} svg @param {number} size in pixels @returns {Promise<Buffer>} a PNG with transparency */
async function draw(svg, size) {
  await page.setViewportSize({ width: size, height: size })
  await page.setContent(`<style>*{margin:0}svg{display:block;width:${size}px;height:${size}px}</style>${svg}`)
  return page.screenshot({ omitBackground: true })
}

/** An .ico: a directory of PNGs (Windows Vista and later). */
function ico(images) {
  const head = Buffer.alloc(6 + 16 * images.length)
  head.writeUInt16LE(1, 2)
  head.writeUInt16LE(images.length, 4)
  let offset = head.length
  images.forEach(({ size, png }, index) => {
    const at = 6 + 16 * index
    // 256 is written as 0.
    head.writeUInt8(size % 256, at)
    head.writeUInt8(size % 256, at + 1)
    head.writeUInt16LE(1, at + 4)
    head.writeUInt16LE(32, at + 6)
    head.writeUInt32LE(png.length, at + 8)
    head.writeUInt32LE(offset, at + 12)
    offset += png.length
  })
  return Buffer.concat([head, ...images.map(({ png }) => png)])
}

/** An .icns: `icns`, total length, then type, length and data of each image. */
function icns(images) {
  const parts = images.map(({ type, png }) => {
    const head = Buffer.alloc(8)
    head.write(type, 'latin1')
    head.writeUInt32BE(8 + png.length, 4)
    return Buffer.concat([head, png])
  })
  const head = Buffer.alloc(8)
  head.write('icns', 'latin1')
  head.writeUInt32BE(8 + parts.reduce((sum, { length }) => sum + length, 0), 4)
  return Buffer.concat([head, ...parts])
}

await mkdir(join(assets, 'icons'), { recursive: true })
await mkdir(join(assets, 'tray'), { recursive: true })
for (const size of linuxSizes) await writeFile(join(assets, 'icons', `${size}x${size}.png`), await draw(drawing, size))

const forWindows = []
for (const size of windowsSizes) forWindows.push({ size, png: await draw(drawing, size) })
await writeFile(join(assets, 'icon.ico'), ico(forWindows))

const forMac = []
// Apple's grid leaves a margin of a tenth around the tile.
const withMargin = drawing.replace('viewBox="0 0 32 32"', 'viewBox="-3.5 -3.5 39 39"')
for (const [type, size] of Object.entries(macTypes)) forMac.push({ type, png: await draw(withMargin, size) })
await writeFile(join(assets, 'icon.icns'), icns(forMac))

const trays = [
  { name: 'tray-ok', svg: drawing, size: 24 },
  { name: 'tray-attention', svg: alarm(drawing), size: 24 },
  { name: 'tray-ok-Template', svg: template(drawing), size: 18 },
  { name: 'tray-attention-Template', svg: blind(template(drawing)), size: 18 },
]
for (const { name, svg, size } of trays) {
  await writeFile(join(assets, 'tray', `${name}.png`), await draw(svg, size))
  await writeFile(join(assets, 'tray', `${name}@2x.png`), await draw(svg, size * 2))
}
await browser.close()
