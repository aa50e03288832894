import { expect, test } from 'vitest'
import { consoleSurfaces, onOtherSites } from './surfaces/console-surfaces.ts'
import { entranceSurfaces, roomSurfaces } from './surfaces/room-surfaces.ts'
import { surfacesIn } from './surfaces/sources.ts'

/** Axe looks at what has an entry: `npm run faults -- surfaces page-accessibility`. */
test('each dialog, panel and menu of the console has an entry that says how to open it', () => {
  expect(surfacesIn('console', 'kit')).toEqual(
    [...Object.keys(consoleSurfaces('')), ...Object.keys(onOtherSites)].sort(),
  )
})

test('each dialog, panel and menu of the room page has an entry that says how to open it', () => {
  expect([...Object.keys(entranceSurfaces), ...Object.keys(roomSurfaces)].sort()).toEqual(surfacesIn('room-page'))
})
