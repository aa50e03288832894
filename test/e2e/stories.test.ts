import { describe, expect, test } from 'vitest'
import { sharedConsole } from '../support/sites/console-site.ts'
import { clientStories, firstStartStory } from './stories/clients.ts'
import { deviceStories } from './stories/devices.ts'
import { keyStories } from './stories/keys.ts'
import { nodeStories } from './stories/nodes.ts'
import { tagStories } from './stories/tags.ts'
import { trafficStories } from './stories/traffic.ts'

describe('an operator starts a site', () => {
  firstStartStory('headless')
})

/** An operator's day with the console in Chromium, on one site. */
describe('an operator of the console', () => {
  const opened = sharedConsole('headless')

  clientStories(() => opened())
  trafficStories(() => opened())
  deviceStories(() => opened())
  nodeStories(() => opened())
  keyStories(() => opened())
  tagStories(() => opened())
  test('causes no errors in the page', () => {
    expect(opened().problems).toEqual([])
  })
})
