import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { FilmRecorder, type FilmedUsers } from '../recordings/film-recorder.ts'
import { camera, type LiveSite, liveSite, type LiveSiteOptions } from './live-site.ts'

/** A site whose recorder writes the films of its users, who are cameras of one room. */
export interface FilmedSite extends LiveSite {
  recorder: FilmRecorder
  roomId: string
}

/** A film of four seconds, which the recorder repeats. */
export const shortFilm = { seconds: 4 } as const

/** Starts such a site, which answers older clients. */
export async function filmedSite(
  users: FilmedUsers,
  { segmentMs, ...options }: LiveSiteOptions & { segmentMs?: number } = {},
): Promise<FilmedSite> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-films-'))
  const recorder = await FilmRecorder.open(folder, users, segmentMs)
  // Runs after the site has stopped.
  onTestFinished(async () => {
    await recorder.close()
    await rm(folder, { recursive: true, force: true })
  })
  const site = await liveSite({ ...options, recorder })
  site.settings().compatibility.older_clients = true
  const roomId = await site.client.createRoom()
  for (const userId of Object.keys(users)) await site.client.outgoing('createOutgoingUser', camera(roomId, userId))
  return { ...site, recorder, roomId }
}
