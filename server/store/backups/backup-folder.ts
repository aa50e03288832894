/** Sub-folder of the data folder, with one folder of complete files per backup. */
export const backupsFolder = 'backups'
