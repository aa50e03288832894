/** Templates of rooms. */
export const templates = {
  title: 'Room templates',
  act: 'Templates',
  from: 'Template',
  noTemplate: 'None',
  save: 'Save as template',
  saveTitle: 'Save room as template',
  name: 'Name',
  hint: 'Keeps mode, owner, limits, entry, waiting room and tags. Not the number, the schedule or the host password.',
  saved: 'Template “{name}” saved',
  none: 'No templates yet. Open a room and choose “Save as template”.',
  editOne: 'Edit: {name}',
  editTitle: 'Edit template',
  deleteOne: 'Delete: {name}',
  deleteTitle: 'Delete template “{name}”?',
  deleteBody: 'It cannot be restored. Rooms created from it stay.',
  deleted: 'Template “{name}” deleted',
} as const
