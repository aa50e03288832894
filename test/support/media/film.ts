import { existsSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Few and small pictures: several people encode and decode on one machine, and Chromium's own fake camera films 1280×720. */
const width = 160
const height = 96
const picturesPerSecond = 5
const pictures = 10
const folder = join(import.meta.dirname, '../../../node_modules/.cache')
const file = join(folder, `halves-${width}x${height}-${pictures}at${picturesPerSecond}.y4m`)

/** Makes a file of raw pictures (YUV4MPEG2) that a fake camera plays in a loop: grey ones that become lighter, with a lighter right half. Kept for the next run. */
export async function filmFile(): Promise<string> {
  if (existsSync(file)) return file
  const picture = (turn: number): Buffer[] => [
    Buffer.from('FRAME\n'),
    ...Array.from({ length: height }, () => [
      Buffer.alloc(width / 2, 30 + turn * 15),
      Buffer.alloc(width / 2, 70 + turn * 15),
    ]).flat(),
    Buffer.alloc((width * height) / 2, 128),
  ]
  const header = Buffer.from(`YUV4MPEG2 W${width} H${height} F${picturesPerSecond}:1 Ip A1:1 C420\n`)
  const whole = Buffer.concat([header, ...Array.from({ length: pictures }, (_, turn) => picture(turn)).flat()])
  await mkdir(folder, { recursive: true })
  // Writes to another name first: another process may be writing the file at the same time.
  const part = `${file}.${process.pid}`
  await writeFile(part, whole)
  await rename(part, file)
  return file
}
