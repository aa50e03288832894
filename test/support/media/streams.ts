import { expect } from 'vitest'
import type { MediaPage, Offering } from './browser.ts'
import type { TestMediaNode } from './media-node.ts'

/** Publishes camera and microphone of a page as `own` and expects success. */
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

/** Watches a stream in a page, under its id, and expects success. */
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
