/** Texts of the help: the docs in the console. */
export const help = {
  purpose: 'The documentation of this version. It needs no internet.',
  contents: 'Help pages',
  all: 'All pages',
  groups: { operate: 'Run a site', integrate: 'Write a client' },
  onPage: 'On this page',
  previous: 'Previous',
  next: 'Next',
  code: 'Code',
  table: 'Table',
  about: 'Help: {name}',
  openPage: 'Open the whole page',
  linkTo: 'Link to "{name}"',
  missing: 'No such help page',
  missingBody: 'The link may be from another version. All pages are in the list.',
  onlyEnglish: 'The documentation is in English only.',
} as const
