/** Structure of the code that ESLint's rule for single imports cannot see. @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circle',
      comment:
        'Files that import each other cannot be read one at a time. The table of pages loads each page when it is opened.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { pathNot: '^renderer/console/pages\\.ts$' } },
    },
    {
      name: 'no-unused-file',
      comment:
        'Nothing imports this file. The build puts renderer/kit/zod.ts in place of `zod`; a page starts its worker by URL.',
      severity: 'error',
      from: { orphan: true, pathNot: ['\\.d\\.ts$', '(^|/)index\\.html$', '^renderer/kit/zod\\.ts$', '-worker\\.ts$'] },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    includeOnly: '^(server|main|renderer|shared|clients)/',
    // Imports of types count: a reader follows them, too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.vue'] },
  },
}
