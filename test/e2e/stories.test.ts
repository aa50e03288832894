import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ConsoleUnderTest, openConsole } from './console-under-test.ts'
import { accessibilityStory, signInStory } from './stories/accessibility.ts'
import { clientStories } from './stories/clients.ts'
import { deviceStories } from './stories/devices.ts'
import { lookStories } from './stories/looks.ts'
import { manyRoomsStory } from './stories/many-rooms.ts'
import { nodeStories } from './stories/nodes.ts'
import { portStory } from './stories/ports.ts'
import { trafficStories } from './stories/traffic.ts'

/** The same stories with either face: the desktop app, and Chromium on the headless console. They follow each other on one site. */
describe.each(['desktop', 'headless'] as const)('an operator of the %s console', (face) => {
  let opened: ConsoleUnderTest
  beforeAll(async () => {
    opened = await openConsole(face)
  })
  afterAll(() => opened[Symbol.asyncDispose]())

  clientStories(() => opened)
  trafficStories(() => opened)
  deviceStories(() => opened)
  nodeStories(() => opened)
  lookStories(() => opened)
  // The pages are the same in both: one theme each.
  accessibilityStory(() => opened, face === 'desktop' ? 'light' : 'dark')
  test('nothing went wrong in the page meanwhile', () => {
    expect(opened.problems).toEqual([])
  })
  portStory(face)
  manyRoomsStory(face)
})

signInStory()
