import { expect } from 'vitest'
import type { MediaPage, Offering } from './browser.ts'
import type { TestMediaNode } from './media-node.ts'

/** A page sends its camera and microphone into a room, as `own`; it must be taken. */
export async function publish(
  page: MediaPage,
  node: TestMediaNode,
  roomId: string,
  token: string,
  how: Offering = {},
): Promise<void> {
  const answer = await page.call('publish', 'own', `${node.url}/whip/${roomId}`, token, how)
  expect(answer.problem).toBeNull()
}

/** A page watches a stream, under its id; it must be let. */
export async function watch(
  page: MediaPage,
  node: TestMediaNode,
  roomId: string,
  streamId: string,
  token: string,
  how: Offering = {},
): Promise<void> {
  const answer = await page.call('watch', streamId, `${node.url}/whep/${roomId}/${streamId}`, token, how)
  expect(answer.problem).toBeNull()
}
