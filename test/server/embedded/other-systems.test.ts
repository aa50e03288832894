import { spawnSync } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ffmpegInstallCommand } from '../../../server/media/transcode/transcoding.ts'
import { ffmpegArguments } from '../../../server/nodes/embedded/ffmpeg/ffmpeg-child.ts'
import { boundedCommand, findProgram, spawnFfmpeg } from '../../../server/nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { forkMediaProcess } from '../../../server/nodes/embedded/fork-process.ts'
import { onSystem } from '../../support/on-system.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

test('ffmpeg has bounded memory: as a process where there is a shell, per allocation everywhere', () => {
  const { command, given } = boundedCommand('/bin/sh', ['-c', 'ulimit -v; ulimit -c'])
  expect(spawnSync(command, given, { encoding: 'utf8' }).stdout).toBe('3145728\n0\n')
  onSystem('win32')
  expect(boundedCommand('C:\\ffmpeg.exe', ['-i', 'a b'])).toEqual({ command: 'C:\\ffmpeg.exe', given: ['-i', 'a b'] })
  const program = { path: '', version: '7', pictures: undefined, vp8: false, sound: true }
  const parameters = ffmpegArguments(program, { video: undefined, audio: true })
  expect(parameters[parameters.indexOf('-max_alloc') + 1]).toBe('268435456')
})

test('Windows finds ffmpeg by its file extension, and in PATH alone', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'roomdesk-ffmpeg.exe')
  await writeFile(file, '')
  await chmod(file, 0o755)
  expect(await findProgram('roomdesk-ffmpeg', folder)).toBeUndefined()
  onSystem('win32')
  expect(await findProgram('roomdesk-ffmpeg', folder)).toBe(file)
  expect(await findProgram('roomdesk-ffmpeg.exe', folder)).toBe(file)
  expect(await findProgram('', folder)).toBeUndefined()
})

test('Windows starts the media program without a shell', async () => {
  const program = join(await temporaryFolder(), 'program.mjs')
  await writeFile(program, 'process.exit(process.execArgv.includes("--permission") ? 7 : 8)\n')
  onSystem('win32')
  const child = forkMediaProcess(program)()
  expect(await new Promise((resolve) => child.onExit(resolve))).toBe('it ended with exit code 7')
})

test('ffmpeg runs at a lower priority than live media', () => {
  const { child } = spawnFfmpeg('/bin/sleep', ['20'])
  expect(getPriority(child.pid)).toBe(constants.priority.PRIORITY_BELOW_NORMAL)
  child.kill('SIGKILL')
})

test.each([
  ['linux', 'apt install ffmpeg'],
  ['win32', 'winget install ffmpeg'],
  ['darwin', 'brew install ffmpeg'],
] as const)('on %s ffmpeg is installed by %s', (system, command) => {
  expect(ffmpegInstallCommand(system)).toBe(command)
})
