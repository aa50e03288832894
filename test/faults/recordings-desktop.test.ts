import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../shared/console/contract.ts'
import { type Desktop, launch } from '../e2e/desktop.ts'
import { startFilmCameras } from '../support/camera/film-camera.ts'
import { filmOf, smallFilm } from '../support/recordings/film.ts'

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-desktop-'))
  onTestFinished(async () => await rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Records a camera on the desktop for a moment, and shows it on the page of recordings. */
async function recordAndWatch(app: Desktop, cameraUrl: string, folder: string): Promise<void> {
  const call = async <N extends ProcedureName>(name: N, input: ProcedureInput<N>): Promise<ProcedureOutput<N>> =>
    // The controller has validated its answer against the contract.
    (await app.call(name, input)) as ProcedureOutput<N>
  await call('overview.dismiss_welcome', {})
  const { room_id } = await call('rooms.create', { topic: 'Yard' })
  await call('devices.create', { roomId: room_id, userId: 'yard', userName: 'Yard', userAddress: cameraUrl })
  await call('recordings.start', { room_id, user_id: 'yard' })
  const state = async () => (await call('recordings.states', {})).items[0]?.recording
  await expect.poll(state, { timeout: 40_000 }).toBe(true)
  const began = Date.now()
  await expect.poll(() => Date.now() - began, { timeout: 20_000 }).toBeGreaterThan(4_000)
  await call('recordings.stop', { room_id, user_id: 'yard' })
  expect(await call('recordings.status', {})).toMatchObject({ folder, usable: true, problems: [] })
  const files = async (): Promise<string[]> =>
    (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.mp4'))
  await expect.poll(files, { timeout: 20_000 }).toHaveLength(1)
  await app.open(`#/recordings?room=${room_id}`)
  const video = "document.querySelector('figure.tile video')"
  await expect.poll(() => app.page.evaluate(`${video}?.videoWidth`), { timeout: 30_000 }).toBe(smallFilm.width)
}

test('On the desktop a camera is recorded into the folder given by a flag, else into the data folder, and played under app://', {
  timeout: 180_000,
}, async () => {
  await using cameras = await startFilmCameras(await filmOf(smallFilm))
  const [userData, otherData] = [await temporary(), await temporary()]
  const flagged = join(await temporary(), 'films')
  await mkdir(flagged)
  {
    await using app = await launch({ userData, args: [`--recordings-dir=${flagged}`] })
    await recordAndWatch(app, cameras.url(0), flagged)
  }
  {
    await using app = await launch({ userData: otherData })
    await recordAndWatch(app, cameras.url(0), join(otherData, 'site', 'recordings'))
  }
})
