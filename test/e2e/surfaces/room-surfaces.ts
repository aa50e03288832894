import type { Visitor } from '../../support/sites/room-site.ts'
import type { Size } from './surface-walk.ts'

/** How a visitor opens a surface of the room page. */
export interface RoomWay {
  open: (visitor: Visitor) => Promise<void>
  /** Clicked again to close a panel that stays; a dialog or menu closes with Escape. */
  isPanel?: boolean
  /** The only size that has it. */
  only?: Size
}

const click = (name: string) => (visitor: Visitor) => visitor.button(name).first().click()
const choose = async ({ page }: Visitor, item: string): Promise<void> => {
  await page.getByRole('toolbar').getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

/** Menus at the entrance. */
export const entranceSurfaces: Readonly<Record<string, RoomWay>> = {
  'LanguageSwitch AppMenu': { open: ({ page }) => page.getByRole('button', { name: /^Language/ }).click() },
  'ThemeSwitch AppMenu': { open: ({ page }) => page.getByRole('button', { name: /^Colours/ }).click() },
}

/** Every panel, dialog and menu of the room, for a host with a guest named Bo. */
export const roomSurfaces: Readonly<Record<string, RoomWay>> = {
  // A phone chooses its devices in the settings.
  'ControlBar AppMenu': { open: (visitor) => visitor.button('Microphone').click(), only: 'desktop' },
  'ReactionMenu AppMenu': { open: click('React') },
  'MoreMenu AppMenu': { open: click('More') },
  'SettingsDialog AppDialog': { open: (visitor) => choose(visitor, 'Settings…') },
  'MeetingView AppDialog': { open: (visitor) => choose(visitor, 'End the meeting for everybody…') },
  'StageTile AppMenu': {
    async open(visitor) {
      await visitor.tile('Bo').hover()
      await visitor.tile('Bo').getByRole('button', { name: 'Actions for Bo' }).click()
    },
  },
  'ChatPanel PanelFrame': { open: click('Chat'), isPanel: true },
  'PeoplePanel PanelFrame': { open: click('People'), isPanel: true },
  'PeoplePanel AppMenu': {
    async open(visitor) {
      await visitor.button('People').click()
      await visitor.page.getByRole('region', { name: 'People' }).getByRole('button', { name: 'Actions for Bo' }).click()
    },
  },
}
