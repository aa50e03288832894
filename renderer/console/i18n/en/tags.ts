/** Tags of rooms and devices. */
export const tags = {
  title: 'Tags',
  add: 'Add tags',
  edit: 'Edit tags',
  act: 'Tags…',
  filter: 'Only rows with these tags',
  filterBy: 'show only rows with this tag',
  unfilter: 'filtered by this tag: click to remove',
  placeholder: 'Type a tag, or choose one',
  hint: 'Press Enter after each tag; at most 40 characters each.',
  typeNew: 'Type a tag and press Enter',
  new: 'new',
  noMatch: 'No such tag',
  dialog: {
    rooms: 'Tags of {n} room | Tags of {n} rooms',
    devices: 'Tags of {n} device | Tags of {n} devices',
    add: 'Add',
    remove: 'Remove',
  },
  drop: {
    title: 'Discard the changes?',
    body: 'The tags that you changed here are not saved yet.',
    act: 'Discard',
  },
  told: {
    saved: 'The tags were saved',
    nothing: 'No tag had to change',
    rooms: 'Tags of {n} room changed | Tags of {n} rooms changed',
    devices: 'Tags of {n} device changed | Tags of {n} devices changed',
  },
  found: {
    rooms: '{n} room | {n} rooms',
    devices: '{n} device | {n} devices',
  },
} as const
