import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { testCard } from '../../../../server/media/test-camera/card/test-card.ts'
import { startTestCamera } from '../../../support/camera/test-camera.ts'

const startCode = Buffer.from([0, 0, 0, 1])

/** Decodes the pictures of a card from the first one on, with ffmpeg. @returns luma and chroma of each picture */
async function decoded(name: string, small: boolean, count: number, beganAt: number): Promise<Buffer[]> {
  const { large, small: other } = testCard(name)
  const clip = small ? other : large
  const units = Array.from({ length: count }, (_, index) => clip.picture(index, beganAt)).flatMap((picture) => [
    ...picture.sets,
    ...picture.units,
  ])
  const stream = Buffer.concat(units.flatMap((unit) => [startCode, unit]))
  const run = promisify(execFile)
  const words = [
    '-v',
    'error',
    '-xerror',
    '-f',
    'h264',
    '-i',
    'pipe:0',
    '-f',
    'rawvideo',
    '-pix_fmt',
    'yuv420p',
    'pipe:1',
  ]
  const running = run('ffmpeg', words, { encoding: 'buffer', maxBuffer: 1 << 30 })
  running.child.stdin?.end(stream)
  const { stdout, stderr } = await running
  expect(stderr.toString()).toBe('')
  const size = (small ? 320 * 176 : 640 * 352) * 1.5
  expect(stdout.length).toBe(size * count)
  return Array.from({ length: count }, (_, index) => stdout.subarray(index * size, (index + 1) * size))
}

/** Reads the characters of a row of a picture: a dot is white. */
function dotsIn(picture: Buffer, width: number, row: number): string {
  const cell = width / 20
  const dot = cell / 8
  return Array.from({ length: 8 }, (_, y) =>
    Array.from({ length: 160 }, (_, x) => ((picture[(row * cell + y * dot) * width + x * dot] ?? 0) > 200 ? '#' : ' '))
      .join('')
      .trimEnd(),
  ).join('\n')
}

test.each([
  ['large', false, 640],
  ['small', true, 320],
])(
  'The %s card is decoded without an error, and shows its name, the time and the number of each picture',
  async (_, small, width) => {
    const beganAt = Date.UTC(2026, 10, 30, 23, 59, 58)
    const pictures = await decoded('yard-7', small, 85, beganAt)
    const [first, second] = pictures
    const row = (index: number, line: number): string => dotsIn(pictures[index] ?? Buffer.alloc(0), width, line)
    expect(row(0, 5)).toMatchInlineSnapshot(`
      "                                                         #   #    ###    ####    ###             #####
                                                               #   #   #   #   #   #   #  #                #
                                                               #   #   #   #   #   #   #   #              #
                                                                # #    #   #   ####    #   #   #####     #
                                                                 #     #####   # #     #   #            #
                                                                 #     #   #   #  #    #  #             #
                                                                 #     #   #   #   #   ###              #
      "
    `)
    expect(row(0, 7)).toMatchInlineSnapshot(`
      "  ###     ###     ###      ##              #       #             #####    ###             ###    #####           #####    ###            #####    ###
       #   #   #   #   #   #    #               ##      ##                #    #   #           #   #      #     ##     #       #   #    ##     #       #   #
           #   #  ##       #   #                 #       #               #     #  ##               #     #      ##     ####    #   #    ##     ####    #   #
          #    # # #      #    ####    #####     #       #     #####      #    # # #              #       #                #    ####               #    ###
         #     ##  #     #     #   #             #       #                 #   ##  #             #         #    ##         #       #    ##         #   #   #
        #      #   #    #      #   #             #       #             #   #   #   #            #      #   #    ##     #   #      #     ##     #   #   #   #
       #####    ###    #####    ###             ###     ###             ###     ###            #####    ###             ###     ##              ###     ###
      "
    `)
    expect(row(84, 9)).toMatchInlineSnapshot(`
      "                                                  ###     ###     ###     ###     ###     ###     ###       #
                                                       #   #   #   #   #   #   #   #   #   #   #   #   #   #     ##
                                                       #  ##   #  ##   #  ##   #  ##   #  ##   #  ##   #   #    # #
                                                       # # #   # # #   # # #   # # #   # # #   # # #    ###    #  #
                                                       ##  #   ##  #   ##  #   ##  #   ##  #   ##  #   #   #   #####
                                                       #   #   #   #   #   #   #   #   #   #   #   #   #   #      #
                                                        ###     ###     ###     ###     ###     ###     ###       #
      "
    `)
    // The name stays, the time changes with the second, the number with each picture, across key pictures too.
    expect(new Set(pictures.map((_picture, index) => row(index, 5))).size).toBe(1)
    expect(new Set(pictures.map((_picture, index) => row(index, 7))).size).toBe(9)
    expect(new Set(pictures.map((_picture, index) => row(index, 9))).size).toBe(85)
    expect(first?.equals(second ?? Buffer.alloc(0))).toBe(false)
  },
)

test('Most of a card costs nothing: a key picture is small for a lossless one, and a change is smaller', () => {
  const { large } = testCard('yard')
  const bytes = (index: number): number => large.picture(index, 0).units.reduce((sum, unit) => sum + unit.length, 0)
  expect(bytes(0)).toBeLessThan(100_000)
  expect(bytes(1)).toBeLessThan(10_000)
})

test('A camera with a card is played by ffprobe, in both sizes', async () => {
  using running = await startTestCamera({ name: 'card', picture: 'card' })
  const run = promisify(execFile)
  for (const [url, size] of [
    [running.url, '640,352'],
    [`${running.url}/sub`, '320,176'],
  ]) {
    const words = ['-v', 'error', '-rtsp_transport', 'tcp', '-read_intervals', '%+1', '-count_frames']
    const shown = ['-show_entries', 'stream=width,height,nb_read_frames', '-of', 'csv=p=0', url ?? '']
    const { stdout, stderr } = await run('ffprobe', [...words, ...shown])
    expect([stderr, stdout.trim()]).toEqual(['', expect.stringMatching(new RegExp(`^${size},([6-9]|1\\d)$`))])
  }
})
